"""Words too common to tell topics apart."""

import os
from collections.abc import Iterable
from pathlib import Path

from topicvec.errors import DataError
from topicvec.files import open_text

__all__ = ["stop_words"]

# The list of the original program, 199 words; the last seven are what its cutting leaves over.
_ENGLISH = """
a about above across after again against all almost alone along also although always am
among an and another any anybody anyone anything apart are around as at away be because been
before behind being below besides between beyond both but by can cannot could did do does
doing done down during each either else enough etc ever every everybody everyone except far
few for from get gets got had has have having he her here herself him himself his how however
if in indeed instead into is it its itself just kept me maybe might more most mostly much
must my myself neither no nobody none nor not nothing of off often on one only onto or other
others ought our ours out own please pp quite rather really said seem shall she should since
so some somebody somewhat still such than that the their theirs them themselves then there
therefore these they this thorough thoroughly those through thus to together too toward
towards until up upon was we well were what whatever when whenever where whether which while
who whom whose why will with within would yet you your yourself
re d ll m ve t s
"""

# What the original left in: pronouns and adverbs it forgot, and contractions as we keep them.
_ENGLISH_MORE = """
i us very now ourselves yourselves yours hers mine someone something sometimes somewhere
everything everywhere anywhere nowhere whoever may via per
ain't aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mightn't mustn't
needn't oughtn't shan't shouldn't wasn't weren't won't wouldn't
i'm i'd i'll i've you're you'd you'll you've he'd he'll she'd she'll it'd it'll we're we'd
we'll we've they're they'd they'll they've that'd that'll there'd there'll who'd who'll who've
what'll what're could've might've must've should've would've y'all
"""

_LISTS = {"english": _ENGLISH, "english-extended": _ENGLISH + _ENGLISH_MORE, "none": ""}


def stop_words(source: str | os.PathLike[str] | Iterable[str] | None = "english") -> frozenset[str]:
    """Return a set of stop words by name, from a file, or as given.

    Parameters
    ----------
    source : str, path, iterable of str or None
        - "english": the list of the original TopicVec program, for results that compare with
          the paper. It lacks some function words ("i", "us", "very") and, as the original cuts
          them otherwise, contractions such as "don't".
        - "english-extended": the same with those added.
        - "sklearn": the English list of scikit-learn.
        - "none" or None: no word.
        - a path: a UTF-8 file with one word a line; blank lines and lines that begin with # are
          skipped.
        - any iterable of words.

    Returns
    -------
    frozenset of str
        Compared with tokens as they are, so give lower-case words to the default tokenizer.

    Examples
    --------
    >>> "the" in stop_words(), "don't" in stop_words(), "don't" in stop_words("english-extended")
    (True, False, True)
    >>> sorted(stop_words(["foo", "bar"]))
    ['bar', 'foo']
    """
    if source is None:
        return frozenset()
    if source == "sklearn":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # slow, and rarely wanted

        return frozenset(ENGLISH_STOP_WORDS)
    if isinstance(source, str) and source in _LISTS:
        return frozenset(_LISTS[source].split())
    if not isinstance(source, (str, os.PathLike)):
        return frozenset(source)
    if not Path(source).is_file():
        raise DataError(
            "stop words must be english, english-extended, sklearn, none, words or a file; "
            f"no file {os.fspath(source)!r}"
        )
    with open_text(Path(source), "utf-8") as stream:
        lines = [line.strip() for line in stream]
    return frozenset(line for line in lines if line and not line.startswith("#"))

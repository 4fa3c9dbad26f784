"""Words too common to tell topics apart: lists by name, and from a corpus itself."""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from topicvec.errors import DataError, require
from topicvec.files import limited_lines
from topicvec.text.counting import ChunkCounts, chunked, count_tokens, tally
from topicvec.text.decoding import Decoding, open_text

__all__ = ["LANGUAGES", "corpus_stop_words", "is_list_name", "stop_words", "stop_words_of"]

# The list of the original program, 199 words; the last seven are what its cutting leaves over.
_PAPER = """
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

# What the original left in: pronouns, adverbs and numbers that it forgot, contractions as we keep
# them, and verbs and nouns that head topics without saying anything ("use used using").
_MORE = """
i us very now ourselves yourselves yours hers mine someone something sometimes somewhere
everything everywhere anywhere nowhere whoever whichever wherever may via per oneself
ain't aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mightn't mustn't
needn't oughtn't shan't shouldn't wasn't weren't won't wouldn't
i'm i'd i'll i've you're you'd you'll you've he'd he'll she'd she'll it'd it'll we're we'd
we'll we've they're they'd they'll they've that'd that'll there'd there'll who'd who'll who've
what'll what're could've might've must've should've would've y'all
afterwards already amid amidst amongst anyhow anyway anyways beforehand beside despite due
elsewhere even formerly further furthermore hence henceforth hereby herein hitherto latter
least less lest likewise many meanwhile moreover namely nearly never nevertheless nonetheless
notwithstanding once otherwise over perhaps regarding same several somehow sometime thereafter
thereby therein thereof though throughout till under underneath unless unlike unto versus
whereas whereby wherein whither whilst without
one two three four five six seven eight nine ten first last next
actually certainly especially exactly generally merely obviously particularly possibly probably
simply usually basically mainly hardly soon later ago yes yeah oh ok okay
seemed seems seeming became become becomes becoming tend tends
go goes going gone went come comes came coming take takes took taken taking give gives gave given
giving make makes made making put puts let lets say says saying tell tells told know knows knew
known think thinks thought see sees saw seen want wants wanted use uses used using try tries
tried trying look looks looked looking keep keeps like able getting
thing things way ways lot lots bit kind sort
"""

_LISTS = {
    "english": _PAPER + _MORE,
    "english-extended": _PAPER + _MORE,  # what it was called when "english" was the paper's
    "en": _PAPER + _MORE,
    "paper": _PAPER,
    "none": "",
}

# Codes (ISO 639-1) and names of the lists that the package stop-words has.
LANGUAGES = {
    "ar": "arabic", "bg": "bulgarian", "ca": "catalan", "cs": "czech", "da": "danish",
    "nl": "dutch", "fi": "finnish", "fr": "french", "de": "german", "gu": "gujarati",
    "he": "hebrew", "hi": "hindi", "hu": "hungarian", "id": "indonesian", "ms": "malaysian",
    "it": "italian", "nb": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sk": "slovak", "es": "spanish", "sv": "swedish", "tr": "turkish",
    "uk": "ukrainian", "vi": "vietnamese", "fa": "persian", "el": "greek", "zh": "chinese",
    "ja": "japanese", "ko": "korean",
}  # fmt: skip

_LEAST_DOCUMENTS = 50  # fewer say nothing of how a word is spread
_LEAST_SHARE, _MOST_TOLD = 0.001, 0.08  # of the tokens; nats
_N_COMPANIONS = 1000  # words by which the company of a word is judged


def stop_words(source: str | os.PathLike[str] | Iterable[str] | None = "english") -> frozenset[str]:
    """Return a set of stop words by name, from a file, or as given.

    Parameters
    ----------
    source : str, path, iterable of str or None
        - "english", "en": function words, contractions as `Tokenizer` keeps them, and a few
          words that head topics without saying anything.
        - "paper": the list of the original TopicVec program, for results that compare with the
          paper. It lacks some function words ("i", "us", "very") and contractions.
        - "sklearn": the English list of scikit-learn.
        - another language by its name or code, such as "italian" or "it", see `LANGUAGES`; needs
          ``pip install "topicvec[languages]"``.
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
    >>> "the" in stop_words(), "don't" in stop_words(), "don't" in stop_words("paper")
    (True, True, False)
    >>> sorted(stop_words(["foo", "bar"]))
    ['bar', 'foo']
    """
    if source is None:
        return frozenset()
    if not isinstance(source, (str, os.PathLike)):
        if not isinstance(source, Iterable):
            raise DataError(f"stop words must be a name, a file or words; found {source!r}")
        return frozenset(source)
    name = source if isinstance(source, str) else ""
    if name == "sklearn":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # slow, and rarely wanted

        return frozenset(ENGLISH_STOP_WORDS)
    if name in _LISTS:
        return frozenset(_LISTS[name].split())
    if name in LANGUAGES or name in LANGUAGES.values():
        package = require("stop_words", "languages", f"stop_words={name!r}")
        return frozenset(map(str.lower, package.get_stop_words(name)))
    return _of_file(source)


def is_list_name(name: str) -> bool:
    """Say whether stop words of this name come with the program, so that no file is read.

    Examples
    --------
    >>> is_list_name("english"), is_list_name("stop.txt")
    (True, False)
    """
    return name in {*_LISTS, *LANGUAGES, *LANGUAGES.values(), "sklearn", "corpus"}


def _of_file(path: str | os.PathLike[str]) -> frozenset[str]:
    if not Path(path).is_file():
        hint = ": TopicVec finds those of a corpus; else see corpus_stop_words"
        hint = hint if path == "corpus" else ""
        raise DataError(
            "stop words must be english, paper, sklearn, none, the name or code of a language "
            f"(italian, it), words or a file; no file {os.fspath(path)!r}{hint}"
        )
    with open_text(Path(path), Decoding()) as stream:
        lines = [line.strip() for line in limited_lines(stream, os.fspath(path))]
    return frozenset(line for line in lines if line and not line.startswith("#"))


def corpus_stop_words(token_lists: Iterable[Sequence[str]]) -> frozenset[str]:
    """Find the words of a corpus, in any language, that are too common to tell anything.

    Parameters
    ----------
    token_lists : iterable of sequences of str
        The words of at least 50 documents.

    Returns
    -------
    frozenset of str
        None for texts whose stop words were taken out before.

    Notes
    -----
    A stop word keeps the same company as any word: it tells nothing of the words that stand in a
    document with it. A word is one if it makes up a share s of at least 1/1000 of the tokens, and
    if the thousand most frequent words are spread in the documents that have it as they are in
    all: the Kullback–Leibler divergence of the two, less what chance makes of it (half the number
    of the words that occur, divided by their tokens), is below 0.08 (1 + log10(1000 s)) nats. How
    long documents are makes no difference, as it does where only the documents with a word are
    counted: in titles every word is as even as "the".

    Examples
    --------
    >>> texts = ["the cat and the dog"] * 30 + ["the bus and the car"] * 30
    >>> sorted(corpus_stop_words(map(str.split, texts)))
    ['and', 'the']
    """
    chunks = [count_tokens(chunk) for chunk in chunked(token_lists)]
    return stop_words_of(lambda: chunks)


def stop_words_of(chunks: Callable[[], Iterable[ChunkCounts]]) -> frozenset[str]:
    """Find the stop words of a corpus whose counts can be gone through more than once."""
    totals = tally(chunks())
    if totals.n_documents < _LEAST_DOCUMENTS:
        raise DataError(
            f"stop_words='corpus' needs at least {_LEAST_DOCUMENTS} documents to see which words "
            f"are everywhere; found {totals.n_documents}: name a language, or give the words"
        )
    places = np.flatnonzero(totals.counts >= np.sort(totals.counts)[-_N_COMPANIONS:].min(initial=1))
    frequent = [(-int(totals.counts[place]), totals.words[place]) for place in places]
    best = sorted(frequent)[:_N_COMPANIONS]  # ties by the alphabet, for the same bits
    known = [word for _, word in best]
    shares = np.array([-n for n, _ in best]) / max(int(totals.counts.sum()), 1)
    n_frequent = int((shares >= _LEAST_SHARE).sum())
    ids = {word: column for column, word in enumerate(known)}
    together = np.zeros((n_frequent, len(known)))
    for chunk in chunks():
        together += _together(chunk, ids, n_frequent)
    told = _told(together, shares)
    limits = _MOST_TOLD * (1 + np.log10(shares[:n_frequent] / _LEAST_SHARE))
    return frozenset(known[row] for row in np.flatnonzero(told < limits))


def _together(chunk: ChunkCounts, ids: dict[str, int], n_frequent: int) -> npt.NDArray[np.float64]:
    """Count the words of the documents that have each frequent one; whole numbers, so exact."""
    columns = [column for column, word in enumerate(chunk.words) if word in ids]
    places = [ids[chunk.words[column]] for column in columns]
    counts = np.zeros((chunk.counts.shape[0], len(ids)))
    counts[:, places] = chunk.counts[:, columns].toarray()
    having: npt.NDArray[np.float64] = (counts[:, :n_frequent] > 0).T @ counts
    return having


def _told(
    together: npt.NDArray[np.float64], shares: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Give the divergence of each word's company from all words, less what chance makes of it."""
    told = np.zeros(len(together))
    for row, company in enumerate(together):
        others = np.arange(len(company)) != row
        found, expected = company[others], shares[others] / shares[others].sum()
        seen = found > 0
        found, expected, total = found[seen], expected[seen], found.sum()
        if total:
            told[row] = found @ np.log(found / total / expected) / total - seen.sum() / (2 * total)
    return told

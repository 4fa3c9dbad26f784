"""Cut a text into sentences, with their places in it."""

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Span", "split_sentences"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What a full stop after these means depends on what follows.
_TITLES = _words("""
    mr mrs ms mx dr prof st rev hon gen col capt cmdr lt sgt gov sen rep messrs mme mlle vs cf
    e.g i.e viz ca approx
""")  # never the end
_NUMBERED = _words("""
    no nos vol vols fig figs eq eqs sec ch chap p pp art jan feb mar apr jun jul aug sep sept oct
    nov dec
""")  # not the end before a number
_SHORTENED = _words("inc ltd co corp jr sr al etc est dept ed eds")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")  # J, U.S, a.m
_STARTERS = _words("""
    the a an it he she they we you i this that these those there here but and or so in on at for
    if when while as after before since although however yet then now his her its their our my
    what who why how where most some many one no not
""")  # these begin a sentence after what may be shortened
_END = re.compile(r"""[.!?…]+["'”’»)\]]*(?=\s)|[。！？]+[」』）]*|\n[^\S\n]*(?:\n\s*)+""")
_LAST_WORD = re.compile(r"[^\W_](?:[\w.'’-]*[^\W_])?$")
_NEXT_WORD = re.compile(r"""(\s*)["'“‘«(\[¿¡]*(\w*)""")
_ALWAYS = "\n。！？"


class Span(NamedTuple):
    """Where a sentence begins and ends in its text.

    Examples
    --------
    >>> Span(0, 12).end
    12
    """

    start: int
    end: int


def split_sentences(text: str) -> list[Span]:
    """Find the sentences of a text.

    Sentences end at ``.``, ``!``, ``?`` or ``…`` before a blank and at blank lines; not after
    titles, initials and the like ("Dr. J. Smith", "the U.S. Army", "No. 5"), nor before a small
    letter. A single line break is a blank.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of Span
        Without surrounding blanks, in order; between them are only blanks.

    Examples
    --------
    >>> text = "Dr. Smith paid 3.5 million. Was it much? No"
    >>> [text[start:end] for start, end in split_sentences(text)]
    ['Dr. Smith paid 3.5 million.', 'Was it much?', 'No']
    """
    spans: list[Span] = []
    start = 0
    for end in [*_ends(text), len(text)]:
        piece = text[start:end]
        stripped = piece.strip()
        if stripped:
            first = start + len(piece) - len(piece.lstrip())
            spans.append(Span(first, first + len(stripped)))
        start = end
    return spans


def _ends(text: str) -> Iterator[int]:
    begin = 0
    for match in _END.finditer(text):
        if _is_end(text, begin, match):
            begin = match.end()
            yield begin


def _is_end(text: str, begin: int, match: "re.Match[str]") -> bool:
    sign = match.group()
    if sign[0] in _ALWAYS:
        return True
    blank, following = _NEXT_WORD.match(text, match.end()).groups()  # type: ignore[union-attr]
    if blank.count("\n") > 1:
        return True
    if following[:1].islower():  # "Why?" he asked, and so ... and so on
        return False
    before = _LAST_WORD.search(text[max(begin, match.start() - 40) : match.start()])
    single_stop = sign[0] == "." and sign[:2] != ".."
    return not (single_stop and before and _is_shortened(before.group(), following))


def _is_shortened(word: str, following: str) -> bool:
    """Say whether a full stop belongs to the word before it and ends no sentence."""
    small = word.lower()
    if small in _TITLES:
        return True
    if small in _NUMBERED:
        return following[:1].isdigit()
    initials = word != "I" and not word.islower() and _DOTTED.fullmatch(word)
    if small in _SHORTENED or initials or ("." in word and _DOTTED.fullmatch(word)):
        return following.lower() not in _STARTERS
    return False

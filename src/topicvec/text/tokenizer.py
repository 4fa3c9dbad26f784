"""Cut text into words, and say where in the text they stand."""

import dataclasses
import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import accumulate
from types import CodeType, ModuleType
from typing import Any, Literal, NamedTuple, get_args

from topicvec.checks import check_choice
from topicvec.errors import DataError, require

__all__ = ["Rules", "TokenSpan", "Tokenizer", "describe_tokenizer", "original_words"]

Rules = Literal["default", "original"]

# Every ASCII character but letters, digits and the apostrophe becomes a blank. As a table of
# bytes over UTF-8 this is one pass in C, and bytes of other scripts are left alone.
_BLANKED = bytes(c if c > 127 or chr(c).isalnum() or c == ord("'") else 32 for c in range(256))
_LINK = re.compile(r"""://[^\s<>"”]*|www\.\w[^\s<>"”]*|@[\w-]+(?:\.[\w-]+)+""")
_BEFORE_LINK = "abcdefghijklmnopqrstuvwxyz0123456789+-._%"  # a scheme, or a name before @
_JOINED = re.compile(r"[^ ']+(?:'[^ ']+)*")  # by single apostrophes
_LONG = 64  # longer pieces are rare, and remembering them would fill the memory

_HOST = r"[A-Za-z0-9@:%._+~#=-]"
_ORIGINAL_LINK = re.compile(
    rf"(?:https?://)?(?:www\.)?{_HOST}{{2,256}}\.[a-z]{{2,6}}\b(?:[A-Za-z0-9@:%._+~#?&/=-]*)"
)
# (?<!\s): each run of blanks is read once, not once from each of its blanks
_SENTENCE_END = re.compile(r"""(?:(?<!\s)\s+)?[,;:`"()?!{}]\s*|--+|-\s|''|\.\.+|\.\s|\.$""")
_WORD_END = re.compile(r"\s+|\+?[-*/&%=<>\[\]~|@$]+\+?|\\|(?:^|(?<=\s))\+")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]")


# Scripts without blanks between words, with one that tells each from those after it.
_KANA, _THAI, _OTHERS = (
    "\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f",
    "\u0e01-\u0e7f",
    ("\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"),
)
_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = re.compile(f"[{_KANA}{_HAN}{_THAI}{_OTHERS}]+")
_SCRIPTS = {
    "Japanese": re.compile(f"[{_KANA}]"),
    "Chinese": re.compile(f"[{_HAN}]"),
    "Thai": re.compile(f"[{_THAI}]"),
    "Lao, Khmer or Burmese": re.compile(f"[{_OTHERS}]"),
}

_PLAIN = (str, bytes, int, float, complex, bool, type(None), re.Pattern)

_composed = partial(unicodedata.normalize, "NFC")
_decomposed = partial(unicodedata.normalize, "NFD")


class TokenSpan(NamedTuple):
    """A word and where it stands.

    Attributes
    ----------
    token : str
        The word as the tokenizer gives it.
    start, end : int
        It was made of ``text[start:end]``.

    Examples
    --------
    >>> TokenSpan("ford", 0, 4).token
    'ford'
    """

    token: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Cut a text into lower-case words; any other callable from str to list of str will do too.

    The default rules know Unicode. A word is a run of letters, marks and digits with at least
    one letter: "covid19" and "x86" are words, "1984" is not. Apostrophes inside stay ("don't",
    also if written with ’), a possessive 's goes, hyphens separate. Web and e-mail addresses are
    removed. Words are in Unicode normal form NFC.

    Parameters
    ----------
    rules : {"default", "original"}
        "original" follows the program that came with the paper, see
        `topicvec.text.tokenizer.original_words`.

    Notes
    -----
    A text that is mostly of a script without blanks between words is cut by a segmenter: Chinese,
    Japanese and Thai by packages that ``pip install "topicvec[chinese]"``, ``[japanese]`` and
    ``[thai]`` bring; Lao, Khmer and Burmese need a tokenizer of your own. In other texts a run of
    such characters is one word.

    Examples
    --------
    >>> tokenize = Tokenizer()
    >>> tokenize("Don’t panic: Ford's well-known GUIDE, 42 pages, is at www.guide.org")
    ["don't", 'panic', 'ford', 'well', 'known', 'guide', 'pages', 'is', 'at']
    """

    rules: Rules = "default"

    def __post_init__(self) -> None:
        check_choice("rules", self.rules, *get_args(Rules))

    def __call__(self, text: str) -> list[str]:
        """Return the words of a text, in order.

        Parameters
        ----------
        text : str
            Any text.

        Returns
        -------
        list of str
            Lower-case words.
        """
        return _RULES[self.rules][0](text)

    def spans(self, text: str) -> list[TokenSpan]:
        r"""Return the words of a text with their places in it.

        Parameters
        ----------
        text : str
            Any text.

        Returns
        -------
        list of TokenSpan
            The words that calling the tokenizer gives, in order; no two places overlap. A place
            is exact whatever lower-casing and normal form do to the length of a word.

        Examples
        --------
        >>> text = "Ford's Cafe\u0301"
        >>> Tokenizer().spans(text)
        [TokenSpan(token='ford', start=0, end=4), TokenSpan(token='café', start=7, end=12)]
        """
        return list(_RULES[self.rules][1](text))


def _default_words(text: str) -> list[str]:
    pieces = _blanked(_normal(text)).split()
    if segment := _needed_segmenter(text, pieces):
        blanked = " ".join(pieces)
        return [span.token for span in _segmented(_found_spans(blanked), segment, blanked)]
    if all(map(str.isalpha, pieces)):
        return pieces
    words: list[str] = []
    for piece in pieces:
        if piece.isalpha():
            words.append(piece)
        else:
            words += (_remembered_words if len(piece) < _LONG else _careful_words)(piece)
    return words


def _default_spans(text: str) -> Iterator[TokenSpan]:
    normal = _normal(text)
    blanked = _blanked(normal)
    starts, ends = _places(text, normal)
    found: Iterable[TokenSpan] = _found_spans(blanked)
    if segment := _needed_segmenter(text, blanked.split()):
        found = _segmented(found, segment, blanked)
    for token, start, end in found:
        yield TokenSpan(token, starts[start], ends[end - 1])


def _found_spans(blanked: str) -> Iterator[TokenSpan]:
    """Find the words between blanks, with their places in the text that was given blanks."""
    for piece in re.finditer(r"\S+", blanked):
        first, word = piece.start(), piece[0]
        if word.isalpha():
            yield TokenSpan(word, first, first + len(word))
        else:
            for token, start, end in _careful_spans(word):
                yield TokenSpan(token, first + start, first + end)


def _segmented(
    found: Iterable[TokenSpan], segment: Callable[[str], Iterable[str]], blanked: str
) -> Iterator[TokenSpan]:
    """Cut words of scripts without blanks, and say where their parts stand."""
    for token, start, end in found:
        if not _UNSPACED.search(token):
            yield TokenSpan(token, start, end)
            continue
        # Signs that are not seen, as joiners, are in the text but not in the word.
        seen = [i for i in range(start, end) if unicodedata.category(blanked[i]) != "Cf"]
        at = 0
        for part in segment(token):
            first, at = at, at + len(part)
            if any(map(str.isalpha, part)):
                yield TokenSpan(part, seen[first], seen[at - 1] + 1)


def _needed_segmenter(text: str, pieces: list[str]) -> Callable[[str], Iterable[str]] | None:
    """Choose the segmenter of a text that is mostly of a script without blanks; else none."""
    if text.isascii() or not _UNSPACED.search(text):
        return None
    runs = [run for piece in pieces for run in _UNSPACED.findall(piece)]
    if 2 * sum(map(len, runs)) <= sum(map(len, pieces)):
        return None
    signs = "".join(runs)
    return _segmenter(next(name for name, kind in _SCRIPTS.items() if kind.search(signs)))


@cache
def _segmenter(script: str) -> Callable[[str], Iterable[str]]:
    purpose = f"text in {script}, which has no blanks between words,"
    if script == "Japanese":
        janome = require("janome.tokenizer", "japanese", purpose)
        tokenizer = janome.Tokenizer(wakati=True)
        return lambda text: tokenizer.tokenize(text)
    if script == "Chinese":
        return require("rjieba", "chinese", purpose).cut  # type: ignore[no-any-return]
    if script == "Thai":
        return require("pythainlp.tokenize", "thai", purpose).word_tokenize  # type: ignore[no-any-return]
    raise DataError(
        f"{purpose} needs a segmenter: give a tokenizer= of your own, a callable from a text to "
        "the list of its words"
    )


def _normal(text: str) -> str:
    text = text.lower()
    if not text.isascii():
        text = _composed(text).replace("’", "'").replace("ʼ", "'")
    return text


def _places(text: str, normal: str) -> tuple[Sequence[int], Sequence[int]]:
    """Say where in the text the characters of its normal form begin and end."""
    if text.isascii():
        return range(len(text)), range(1, len(text) + 1)
    # Both have the same decomposition but for the order of the marks on a letter, and words
    # begin before a letter and end after all its marks.
    origins = [place for place, sign in enumerate(text) for _ in _decomposed(sign.lower())]
    widths = [len(_decomposed(sign)) for sign in normal]
    ends = list(accumulate(widths))
    starts = [origins[end - width] for end, width in zip(ends, widths, strict=True)]
    return starts, [origins[end - 1] + 1 for end in ends]


def _blanked(text: str) -> str:
    """Blank links and ASCII signs; the length stays."""
    if "@" in text or "://" in text or "www." in text:
        text = _without_links(text)
    # surrogatepass: a lone surrogate, as JSON may hold, is no letter but no reason to fail
    signs = text.encode("utf-8", "surrogatepass").translate(_BLANKED)
    return signs.decode("utf-8", "surrogatepass")


def _without_links(text: str) -> str:
    kept, start = [], 0
    for link in _LINK.finditer(text):
        before = text[start : link.start()].rstrip(_BEFORE_LINK)
        kept.append(before.ljust(link.end() - start))
        start = link.end()
    return "".join([*kept, text[start:]])


def _careful_spans(piece: str) -> Iterator[TokenSpan]:
    """Find the words in a piece with other signs than letters: digits, marks, apostrophes."""
    signs, places = _spaced(piece)
    for joined in _JOINED.finditer(signs):
        start, end = joined.span()
        while signs.startswith("'s", end - 2, end) and end - 2 > start:
            end -= 2
        word = _composed(signs[start:end])
        if any(map(str.isalpha, word)):
            yield TokenSpan(word, places[start], places[end - 1] + 1)


def _careful_words(piece: str) -> tuple[str, ...]:
    return tuple(span.token for span in _careful_spans(piece))


_remembered_words = lru_cache(maxsize=1 << 16)(_careful_words)


def _spaced(piece: str) -> tuple[str, list[int]]:
    """Keep letters, digits, apostrophes and marks on letters, with their places; blank all else."""
    kept: list[str] = []
    places: list[int] = []
    inside = False
    for place, character in enumerate(piece):
        kind = unicodedata.category(character)
        if kind == "Cf" and character != "\u200b":  # a zero-width space does separate
            continue  # soft hyphens and joiners are not seen, so they do not
        if kind[0] == "M" and not inside:
            continue
        inside = kind[0] in "LNM"
        kept.append(character if inside or character == "'" else " ")
        places.append(place)
    return "".join(kept), places


def original_words(text: str) -> list[str]:
    r"""Cut a text into lower-case words by the rules of the original TopicVec program.

    Punctuation outside ASCII is deleted, so "isn’t" becomes "isnt" and dashes glue. Strings
    that look like web or e-mail addresses are deleted, among them "end.next" where a blank is
    missing after a full stop. Sentences end at ``, ; : ` " ( ) ? ! { }``, at two hyphens, two
    apostrophes or two full stops, and at a hyphen or full stop before a blank; those without an
    ASCII letter or digit are dropped. Words end at blanks, backslashes and
    ``- * / & % = < > [ ] ~ | @ $``, and lose outer apostrophes and a possessive 's. Numbers stay.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of str
        Lower-case words.

    Examples
    --------
    >>> original_words("Turing’s test isn't over-rated, see turing.org (1950).")
    ['turings', 'test', "isn't", 'over', 'rated', 'see', '1950']
    """
    foreign = _foreign_punctuation(text)
    plain = text.translate(dict.fromkeys(map(ord, foreign))) if foreign else text
    sentences = filter(_ASCII_WORD.search, _SENTENCE_END.split(_ORIGINAL_LINK.sub("", plain)))
    words = (word for sentence in sentences for word in _WORD_END.split(sentence))
    return list(filter(None, [word.strip("'").removesuffix("'s").lower() for word in words]))


def _original_spans(text: str) -> Iterator[TokenSpan]:
    foreign = _foreign_punctuation(text)
    places = [place for place, character in enumerate(text) if character not in foreign]
    plain = "".join(text[place] for place in places)
    kept = list(_between(_ORIGINAL_LINK, plain))
    places = [place for start, end in kept for place in places[start:end]]
    plain = "".join(plain[start:end] for start, end in kept)
    for first, last in _between(_SENTENCE_END, plain):
        sentence = plain[first:last]
        for start, end in _between(_WORD_END, sentence) if _ASCII_WORD.search(sentence) else ():
            word = sentence[start:end].lstrip("'")
            bare = word.rstrip("'").removesuffix("'s")
            at = first + end - len(word)
            if bare:
                yield TokenSpan(bare.lower(), places[at], places[at + len(bare) - 1] + 1)


def _foreign_punctuation(text: str) -> set[str]:
    if text.isascii():
        return set()
    return {c for c in set(text) if c > "\x7f" and unicodedata.category(c)[0] == "P"}


def _between(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Say where the parts stand that splitting a text gives."""
    start = 0
    for match in pattern.finditer(text):
        yield start, match.start()
        start = match.end()
    yield start, len(text)


_RULES: dict[Rules, tuple[Callable[[str], list[str]], Callable[[str], Iterator[TokenSpan]]]] = {
    "default": (_default_words, _default_spans),
    "original": (original_words, _original_spans),
}


def describe_tokenizer(tokenizer: Callable[..., Any]) -> str:
    """Say in one line which tokenizer this is, without memory addresses.

    Functions are known by module and name, lambdas and local functions also by their code,
    dataclasses by their fields, other objects by their type only.

    Examples
    --------
    >>> from topicvec.text import Tokenizer
    >>> describe_tokenizer(str.split), describe_tokenizer(Tokenizer())
    ('str.split', "topicvec.text.tokenizer.Tokenizer(rules='default')")
    """
    if isinstance(tokenizer, partial):
        named = [f"{name}={_describe(tokenizer.keywords[name])}" for name in tokenizer.keywords]
        parts = [describe_tokenizer(tokenizer.func), *map(_describe, tokenizer.args), *named]
        return f"partial({', '.join(parts)})"
    if not hasattr(tokenizer, "__qualname__"):
        return _describe_object(tokenizer)
    owner = getattr(tokenizer, "__self__", None)
    if owner is not None and not isinstance(owner, ModuleType):  # a method of some object
        return f"{_describe(owner)}.{tokenizer.__name__}"
    code = getattr(tokenizer, "__code__", None)
    local = "<" in tokenizer.__qualname__ and code is not None
    return _name(tokenizer) + (f" {_digest(tokenizer)}" if local else "")


def _describe(value: Any) -> str:
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, CodeType):
        return _describe_code(value)
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_describe, value))})"
    if isinstance(value, set | frozenset):  # in an order of its own in each process
        return f"{{{', '.join(sorted(map(_describe, value)))}}}"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_describe(k)}: {_describe(v)}' for k, v in value.items())}}}"
    return describe_tokenizer(value) if callable(value) else _describe_object(value)


def _describe_object(value: Any) -> str:
    name = _name(type(value))
    if not dataclasses.is_dataclass(value):
        return name
    names = [field.name for field in dataclasses.fields(value)]
    return f"{name}({', '.join(f'{n}={_describe(getattr(value, n))}' for n in names)})"


def _name(thing: Any) -> str:
    module = getattr(thing, "__module__", None)
    return f"{module}.{thing.__qualname__}" if module else str(thing.__qualname__)


def _digest(function: Any) -> str:
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    cells = [cell for cell in cells if cell is not function]  # a function may call itself
    known = (function.__code__, cells, function.__defaults__, function.__kwdefaults__)
    return hashlib.blake2b(_describe(known).encode(), digest_size=8).hexdigest()


def _describe_code(code: CodeType) -> str:
    # Names too: text.split() and text.lower() have the same bytes and constants.
    return f"{code.co_code.hex()} {_describe(code.co_consts)} {code.co_names}"

"""Cut text into words as the program that came with the paper does."""

import re
import unicodedata

__all__ = ["original_words"]

_HOST = r"[A-Za-z0-9@:%._+~#=-]"
_LINK = re.compile(
    rf"(?:https?://)?(?:www\.)?{_HOST}{{2,256}}\.[a-z]{{2,6}}\b(?:[A-Za-z0-9@:%._+~#?&/=-]*)"
)
_SENTENCE_END = re.compile(r"""\s*[,;:`"()?!{}]\s*|--+|-\s|''|\.\.+|\.\s|\.$""")
_WORD_END = re.compile(r"\s+|\+?[-*/&%=<>\[\]~|@$]+\+?|\\|(?:^|(?<=\s))\+")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]")


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
    plain = _LINK.sub("", _without_foreign_punctuation(text))
    sentences = filter(_ASCII_WORD.search, _SENTENCE_END.split(plain))
    words = (word for sentence in sentences for word in _WORD_END.split(sentence))
    return [word for word in map(_trimmed, words) if word]


def _without_foreign_punctuation(text: str) -> str:
    if text.isascii():
        return text
    foreign = (c for c in set(text) if c > "\x7f" and unicodedata.category(c)[0] == "P")
    return text.translate(dict.fromkeys(map(ord, foreign)))


def _trimmed(word: str) -> str:
    return word.strip("'").removesuffix("'s").lower()

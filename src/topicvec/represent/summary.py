"""A text in a few of its own sentences: those whose topics cover the topics of the whole.

Sentences are chosen one by one. Each time it is the one with the largest

    Σ_k √(p_k q_k)  +  λ · centrality  −  μ · redundancy,

p the text's mixture of topics without background and the null topic, q that of the sentences
chosen so far with this one, centrality the cosine of the sentence's meaning with the text's, and
redundancy its largest cosine with a sentence that is chosen already; both at least 0. Tokens get
their topics in the light of the whole text, so short sentences are no problem.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.checks import check_whole
from topicvec.engine import InPlace
from topicvec.errors import DataError
from topicvec.model.inference import infer
from topicvec.model.naming import background
from topicvec.model.topicvec import TopicVec
from topicvec.represent.documents import counter_of
from topicvec.represent.words import weighted_means, without_common, word_weights
from topicvec.text.document import Document

__all__ = ["Sentence", "split_sentences", "summarize"]

Floats = NDArray[np.floating]

_CENTRALITY, _REDUNDANCY = 0.5, 0.3  # λ and μ
_LEAST_WORDS = 4  # known words; a shorter sentence says too little to stand alone


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
# (?<![.!?…]): a run of signs is read once, not once from each of them
_END = re.compile(
    r"""(?<![.!?…])[.!?…]+["'”’»)\]]*(?=\s)|[。！？]+[」』）]*|\n[^\S\n]*(?:\n\s*)+"""
)
_LAST_WORD = re.compile(r"[^\W_](?:[\w.'’-]*[^\W_])?$")
_NEXT_WORD = re.compile(r"""(\s*)["'“‘«(\[¿¡]*(\w*)""")
_ALWAYS = "\n。！？"


class Sentence(NamedTuple):
    """A sentence of a text.

    Attributes
    ----------
    text : str
        As it stands there.
    start, end : int
        Where: ``document[start:end]``.
    score : float
        How well it alone stands for the whole text.

    Examples
    --------
    >>> Sentence("It rains.", 0, 9, 0.5).text
    'It rains.'
    """

    text: str
    start: int
    end: int
    score: float


class _Parts(NamedTuple):
    """The sentences (S) of a text, as numbers."""

    topics: Floats  # (S, K), expected tokens of each topic
    directions: NDArray[np.float32]  # (S, N), meanings, length 1
    target: Floats  # (K,), mixture of the text without background and the null topic
    central: NDArray[np.float32]  # (S,), cosine with the text
    n_words: NDArray[np.int64]  # (S,), known words


def summarize(model: TopicVec, text: str | Document, n_sentences: int = 3) -> list[Sentence]:
    """Choose the sentences that together say most of what a text is about.

    Parameters
    ----------
    model : TopicVec
        A fitted model, of a corpus or of this very text.
    text : str or Document
        The text.
    n_sentences : int
        How many sentences at most.

    Returns
    -------
    list of Sentence
        In the order of the text; none if it has no known word.

    Examples
    --------
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car", "bus"], np.eye(4)[[0, 0, 1, 1]], [1, 1, 1, 1])
    >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "bus car bus"])
    >>> summarize(model, "Look! A cat met a dog and a cat. It rains.", n_sentences=1)[0].text
    'A cat met a dog and a cat.'
    """
    check_whole("n_sentences", n_sentences, 1)
    words = text.text if isinstance(text, Document) else text
    if not isinstance(words, str):
        raise DataError(f"expected one text; found {type(text).__name__}")
    spans = split_sentences(words)
    parts = _parts(model, [words[start:end] for start, end in spans]) if spans else None
    if parts is None:
        return []
    alone = _affinities(parts, np.zeros_like(parts.target)) + _CENTRALITY * parts.central
    return [
        Sentence(words[spans[row].start : spans[row].end], *spans[row], float(alone[row]))
        for row in sorted(_chosen(parts, n_sentences))
    ]


def _parts(model: TopicVec, sentences: list[str]) -> _Parts | None:
    fitted, vectors, here = model.fitted_, model.vectors_, InPlace()
    counts = counter_of(model).count(sentences, vectors).counts
    if not counts.nnz:
        return None
    whole = csr_array(counts.sum(axis=0)[None, :])
    types = np.unique(counts.indices)
    topics = counts[:, types] @ infer(fitted, whole, here).responsibilities(0, types)
    target = np.asarray(topics.sum(axis=0), float)
    telling = ~background(fitted)
    telling[0] = False  # the null topic says nothing of what the text is about, nor do these
    target *= telling if target[telling].any() else np.arange(len(target)) > 0
    # what all English texts share
    common = vectors.mean / max(float(np.linalg.norm(vectors.mean)), 1e-30)
    weights = word_weights(vectors)
    rows = without_common(weighted_means(vectors, counts, weights, here), common)
    text = without_common(weighted_means(vectors, whole, weights, here), common)[0]
    central = np.maximum(rows @ text, np.float32(0))
    n_words = np.asarray(counts.sum(axis=1), np.int64)
    return _Parts(topics, rows, target / max(target.sum(), 1e-300), central, n_words)


def _chosen(parts: _Parts, n_sentences: int) -> list[int]:
    """Choose rows of sentences, the best first; short ones only if there are no others."""
    short = parts.n_words < _LEAST_WORDS
    barred = short if (~short).any() else parts.n_words == 0
    closest = np.zeros(len(barred), np.float32)
    so_far = np.zeros_like(parts.target)
    rows: list[int] = []
    while len(rows) < min(n_sentences, int((~barred).sum())):
        gains = _affinities(parts, so_far) + _CENTRALITY * parts.central - _REDUNDANCY * closest
        gains[barred] = -np.inf
        gains[rows] = -np.inf
        best = int(gains.argmax())
        rows.append(best)
        so_far = so_far + parts.topics[best]
        closest = np.maximum(closest, parts.directions @ parts.directions[best])
    return rows


def _affinities(parts: _Parts, so_far: Floats) -> Floats:
    """Affinity of the text's mixture with what is chosen and one sentence more, for each."""
    masses = so_far + parts.topics
    shares = masses / np.maximum(masses.sum(axis=1, keepdims=True), 1e-300)
    return np.asarray(np.sqrt(shares) @ np.sqrt(parts.target))


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
    blank, following = _NEXT_WORD.match(text, match.end()).groups()  # type: ignore[union-attr]
    if sign[0] in _ALWAYS or blank.count("\n") > 1:
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

"""The corpora of the comparisons, and the preprocessing that every compared method shares."""

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicvec.datasets import LabelledTexts, load_20newsgroups, load_reuters
from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError
from topicvec.model.counts import learn_vectors
from topicvec.text.stopwords import stop_words as resolve_stop_words
from topicvec.text.tokenizer import Tokenizer
from topicvec.text.vocabulary import Vocabulary

__all__ = [
    "CORPORA",
    "HELD_OUT",
    "LabelledTokens",
    "Split",
    "hold_out",
    "known_tokens",
    "load_split",
    "parse_corpus",
    "shared_tokens",
]

CORPORA: Mapping[str, Callable[..., LabelledTexts]] = {
    "20news": load_20newsgroups,
    "reuters": load_reuters,
}
HELD_OUT = "-heldout"  # after a corpus's name: its test documents are not touched
SHARE = 0.28  # of the training documents, held out
Split = tuple["LabelledTokens", "LabelledTokens"]
Halves = tuple[LabelledTexts, LabelledTexts]


@dataclass(frozen=True, eq=False)
class LabelledTokens:
    """Token lists with their classes.

    Attributes
    ----------
    documents : list of list of str
        The tokens of D documents, at least one each.
    labels : array of str, (D,)
        Their classes.

    Examples
    --------
    >>> LabelledTokens([["cat", "cat"], ["dog"]], np.array(["a", "b"])).n_tokens
    3
    """

    documents: list[list[str]]
    labels: NDArray[np.str_]

    @property
    def n_tokens(self) -> int:
        """Number of tokens of all documents."""
        return sum(map(len, self.documents))


def known_tokens(
    corpus: LabelledTexts,
    words: Container[str],
    *,
    tokenizer: Callable[[str], list[str]] | None = None,
    stop_words: Any = "paper",
) -> LabelledTokens:
    """Cut texts into words, keep the known ones that are no stop words, drop empty documents.

    Parameters
    ----------
    corpus : LabelledTexts
        The documents.
    words : container of str
        Known words: `WordVectors` will do.
    tokenizer : callable from str to list of str, optional
        `topicvec.text.Tokenizer` by default.
    stop_words : str, path, iterable of str or None
        As in `topicvec.text.stop_words`.

    Returns
    -------
    LabelledTokens
        In the order of the documents.

    Examples
    --------
    >>> from topicvec.text import Document
    >>> texts = (Document("1", "The cat purrs.", "a"), Document("2", "The qqq.", "b"))
    >>> known_tokens(LabelledTexts(texts, ("a", "b")), {"cat", "purrs", "the"}).documents
    [['cat', 'purrs']]
    """
    tokenize, stop = tokenizer or Tokenizer(), resolve_stop_words(stop_words)
    found = (
        [token for token in tokenize(text) if token in words and token not in stop]
        for text in corpus.texts
    )
    kept = [(tokens, label) for tokens, label in zip(found, corpus.labels, strict=True) if tokens]
    labels = np.array([label for _, label in kept], dtype=np.str_)
    return LabelledTokens([tokens for tokens, _ in kept], labels)


def shared_tokens(
    texts: Iterable[str],
    words: Container[str],
    *,
    stop_words: Any = "english",
    min_documents: int = 5,
    min_letters: int = 3,
) -> list[list[str]]:
    """Cut texts into the tokens that all compared models get.

    Parameters
    ----------
    texts : iterable of str
        The documents.
    words : container of str
        Words that every model can use, such as those with a vector.
    stop_words : str, path, iterable of str or None
        Words to leave out, as in `topicvec.text.stop_words`.
    min_documents : int
        Leave out words that fewer documents have.
    min_letters : int
        Leave out shorter words.

    Returns
    -------
    list of lists of str
        One for each text, some perhaps empty.

    Examples
    --------
    >>> shared_tokens(["The cat is in", "a cat in a car"], {"cat", "is"}, min_documents=2)
    [['cat'], ['cat']]
    """
    tokenize, left_out = Tokenizer(), resolve_stop_words(stop_words)
    tokens = [
        [
            word
            for word in tokenize(text)
            if len(word) >= min_letters and word in words and word not in left_out
        ]
        for text in texts
    ]
    kept = Vocabulary.from_documents(tokens, min_doc_frequency=min_documents)
    return [[word for word in row if word in kept] for row in tokens]


def hold_out(texts: LabelledTexts, share: float = SHARE, *, seed: int | None = None) -> Halves:
    """Part documents in two, the others and some of each class, as many as the share says.

    Those are the last of each class: the documents of both corpora are roughly in the order of
    time, and so are their training and test parts, so what holds for the last training documents
    holds for the test documents best. With a seed, they are random ones.

    Examples
    --------
    >>> from topicvec.text import Document
    >>> texts = LabelledTexts(tuple(Document(n, n, "a") for n in "1234"), ("a",))
    >>> [[document.id for document in part.documents] for part in hold_out(texts)]
    [['1', '2', '3'], ['4']]
    >>> [len(part) for part in hold_out(texts, 0.5, seed=0)]
    [2, 2]
    """
    rng = None if seed is None else np.random.default_rng(seed)
    held: set[int] = set()
    for name in texts.names:
        rows = np.flatnonzero(texts.labels == name)
        order = rows if rng is None else rng.permutation(rows)
        held |= set(order[len(rows) - int(share * len(rows)) :].tolist())
    first, second = (
        tuple(doc for row, doc in enumerate(texts.documents) if (row in held) == wanted)
        for wanted in (False, True)
    )
    return LabelledTexts(first, texts.names), LabelledTexts(second, texts.names)


def parse_corpus(corpus: str) -> tuple[str, partial[Halves] | None]:
    """Give the name of a corpus, and how to part its training documents where that is meant.

    Examples
    --------
    >>> name, part = parse_corpus("reuters-heldout1")
    >>> name, part.keywords
    ('reuters', {'seed': 1})
    >>> parse_corpus("20news")
    ('20news', None)
    """
    found = re.fullmatch(rf"(.+?)(?:{HELD_OUT}(\d*))?", corpus)
    if found is None or found[1] not in CORPORA:
        raise DataError(
            f"unknown corpus {corpus!r}: expected {' or '.join(CORPORA)}, "
            f"or one of them with {HELD_OUT}, or with {HELD_OUT}1 and so on"
        )
    name, seed = found.groups()
    if seed is None:
        return name, None
    return name, partial(hold_out, seed=int(seed) if seed else None)


def load_split(corpus: str, vectors: WordVectors, min_count: int) -> tuple[Split, WordVectors]:
    """Load the training and test documents of a corpus as known tokens.

    Parameters
    ----------
    corpus : str
        A name of `CORPORA`, perhaps with "-heldout" behind, as for `run_table2`.
    vectors : WordVectors
        Their words are known.
    min_count : int
        So are words that the training documents have so often; 0: no others.

    Returns
    -------
    split : tuple of LabelledTokens
        Training and test documents.
    vectors : WordVectors
        With vectors of the words added, learned from the training documents.
    """
    name, part = parse_corpus(corpus)
    train = CORPORA[name]("train")
    train, test = (train, CORPORA[name]("test")) if part is None else part(train)
    known = _with_words_of(train, vectors, min_count) if min_count else vectors
    return (known_tokens(train, known), known_tokens(test, known)), known


def _with_words_of(train: LabelledTexts, vectors: WordVectors, min_count: int) -> WordVectors:
    token_lists = [Tokenizer()(text) for text in train.texts]
    counts = Counter(chain.from_iterable(token_lists))
    ignored = resolve_stop_words("paper")
    new = [
        word
        for word, n in counts.items()
        if n >= min_count and word not in vectors and word not in ignored
    ]
    return learn_vectors(vectors, token_lists, sorted(new)) if new else vectors

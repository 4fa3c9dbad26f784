"""The corpora of ``words.py``: parted, cut into words and brought to one vocabulary."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from topicvec_bench.corpora import hold_out

from topicvec import Document, read_documents
from topicvec.datasets import LabelledTexts, load_20newsgroups, load_reuters
from topicvec.text.stopwords import stop_words as resolve_stop_words
from topicvec.text.tokenizer import Tokenizer
from topicvec.text.vocabulary import Vocabulary

SHORT = ("searchsnippets", "tweets", "biomedical", "m10")
ITALIAN = "italian"
CORPORA = ("20news", "reuters", *SHORT, ITALIAN)
MIN_DOCUMENTS = 3  # that have a word of the common vocabulary
HELD_OUT = 0.2  # of the documents of each class


class Part(NamedTuple):
    """Documents, as texts and as tokens of the common vocabulary, with their classes."""

    texts: list[str]
    tokens: list[list[str]]
    labels: list[str]


@dataclass(frozen=True, eq=False)
class Prepared:
    """A corpus as all systems get it.

    Attributes
    ----------
    fit, held : Part
        The documents to learn from, and the others.
    vocabulary : tuple of V str
        The common vocabulary.
    counts : array, (V,)
        How often the documents of `fit` have each of its words.
    left_out : int
        Documents without any of its words, which are in neither part.
    """

    fit: Part
    held: Part
    vocabulary: tuple[str, ...]
    counts: NDArray[np.int64]
    left_out: int

    @property
    def all(self) -> Part:
        """All documents, those of `fit` first."""
        return Part(*(first + second for first, second in zip(self.fit, self.held, strict=True)))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(set(self.all.labels))


def load_corpus(name: str) -> tuple[list[str], list[str]]:
    """Give texts and classes; of 20 Newsgroups and Reuters those of the training part."""
    if name in ("20news", "reuters"):
        loaded = (load_20newsgroups if name == "20news" else load_reuters)("train")
        return loaded.texts, loaded.labels.tolist()
    folder = Path(os.environ["TOPICVEC_DATA"])
    path = folder / "italian/dbpedia-it.tsv" if name == ITALIAN else folder / f"short/{name}.tsv"
    documents = list(read_documents(path, label_column="label", text_column="text"))
    return [each.text for each in documents], [str(each.label) for each in documents]


def prepare(
    texts: Sequence[str],
    labels: Sequence[str],
    *,
    stop_words: Any = "english-extended",
    share: float = HELD_OUT,
    min_documents: int = MIN_DOCUMENTS,
) -> Prepared:
    """Part documents, and cut them into words that enough documents to learn from have."""
    halves = _parted(texts, labels, share)
    tokenize, stopped = Tokenizer(), resolve_stop_words(stop_words)
    cut = [
        [[word for word in tokenize(text) if word not in stopped] for text in part.texts]
        for part in halves
    ]
    words = Vocabulary.from_documents(cut[0], min_doc_frequency=min_documents)
    fit, held = (_part(part, tokens, words) for part, tokens in zip(halves, cut, strict=True))
    counts = Counter(chain.from_iterable(fit.tokens))
    vocabulary = tuple(sorted(counts))
    left_out = len(texts) - len(fit.texts) - len(held.texts)
    return Prepared(fit, held, vocabulary, np.array([counts[w] for w in vocabulary]), left_out)


def prepare_corpus(name: str, n_documents: int | None = None) -> Prepared:
    """Load and prepare a corpus, or some of its documents, every so many-th."""
    texts, labels = load_corpus(name)
    step = max(1, len(texts) // n_documents) if n_documents else 1
    stopped = None if name == ITALIAN else "english-extended"
    return prepare(texts[::step], labels[::step], stop_words=stopped)


def _parted(
    texts: Sequence[str], labels: Sequence[str], share: float
) -> tuple[LabelledTexts, LabelledTexts]:
    documents = tuple(
        Document(str(row), text, label)
        for row, (text, label) in enumerate(zip(texts, labels, strict=True))
    )
    return hold_out(LabelledTexts(documents, tuple(sorted(set(labels)))), share, seed=0)


def _part(part: LabelledTexts, tokens: Sequence[list[str]], words: Vocabulary) -> Part:
    cut = ([word for word in row if word in words] for row in tokens)
    rows = zip(part.texts, cut, part.labels.tolist(), strict=True)
    kept = [row for row in rows if row[1]]
    return Part(*(list(column) for column in zip(*kept, strict=True)))

"""Search in documents: by topics, by meaning and by the very words, in one score."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.embed.nearest import best
from topicvec.embed.vectors import WordVectors
from topicvec.engine import Engine
from topicvec.errors import DataError
from topicvec.model.checks import checked_engine
from topicvec.model.inference import infer
from topicvec.model.inputs import Reader, Text
from topicvec.model.topicmodel import TopicModel
from topicvec.model.training import InPlace
from topicvec.represent import meaning
from topicvec.represent.documents import reader_of
from topicvec.represent.matching import WordIndex
from topicvec.text.bag import BagBuilder
from topicvec.text.counting import chunked, count_tokens, growing_ids
from topicvec.text.document import Document
from topicvec.text.stopwords import stop_words

__all__ = ["Blend", "DocumentIndex", "Hit"]

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found.

    Attributes
    ----------
    index : int
        Its place among the documents, from 0.
    id : str
        Its name.
    score : float
        How well it fits, at most 1.

    Examples
    --------
    >>> Hit(4, "a.txt", 0.7).id
    'a.txt'
    """

    index: int
    id: str
    score: float


class Blend(NamedTuple):
    """How much each part counts in a score; the parts are scaled to sum to 1.

    Attributes
    ----------
    topics : float
        Affinity of the topic mixtures.
    meaning : float
        Cosine of the weighted mean word vectors.
    words : float
        Match of the very words, by BM25.

    Examples
    --------
    >>> Blend(topics=1, meaning=0, words=1)
    Blend(topics=1, meaning=0, words=1)
    """

    topics: float = 0.2
    meaning: float = 0.4
    words: float = 0.4


class _Query(NamedTuple):
    """The three sides of a text."""

    mixture: Floats  # (K,), square roots of proportions
    direction: Floats  # (N,), length 1 or 0
    words: "Counter[str]"


@dataclass(frozen=True, eq=False)
class DocumentIndex:
    """Documents made ready for search; use `build` or `load`.

    Parameters
    ----------
    model : TopicVec
        What describes queries.
    ids : tuple of str
        Names of the D documents.
    mixtures : array, (D, K), float32
        Square roots of their topic proportions.
    directions : array, (D, N), float32
        Their weighted mean word vectors, without the common direction, scaled to length 1.
    common : array, (N,), float32
        The common direction.
    words : WordIndex
        Which documents have which word.
    counts : csr_array, (D, V)
        How often each document has each word of the index.
    blend : Blend
        How the three are put together.

    Examples
    --------
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car", "bus"], np.eye(4)[[0, 0, 1, 1]], [1, 1, 1, 1])
    >>> texts = ["cat dog cat", "bus car bus", "dog", "car car bus"]
    >>> index = DocumentIndex.build(TopicVec(3, vectors, random_state=0).fit(texts), texts)
    >>> [hit.index for hit in index.search("a dog", n=2)]
    [2, 0]
    >>> index.similar(1, n=1)[0].id
    '3'
    """

    model: TopicModel
    ids: tuple[str, ...]
    mixtures: Floats
    directions: Floats
    common: Floats
    words: WordIndex
    counts: csr_array
    blend: Blend

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"DocumentIndex({len(self):,} documents, {len(self.words.words):,} words)"

    @classmethod
    def build(
        cls, model: TopicModel, documents: Iterable[Text], *, blend: Blend | None = None
    ) -> "DocumentIndex":
        """Read documents and make them ready for search.

        Parameters
        ----------
        model : TopicVec
            A fitted model.
        documents : iterable of str, Document or token lists
            A stream will do; the texts are not kept. A document without an id is named by its
            place.
        blend : Blend, optional
            How much topics, meaning and words count.

        Returns
        -------
        DocumentIndex
        """
        names, words, counts = _read(model, documents)
        engine = checked_engine(model.n_jobs)
        known = _known(reader_of(model), words, counts, model.vectors_)
        means = meaning.weighted_means(model.vectors_, known, engine)
        common = meaning.common_direction(means, engine)
        return cls(
            model=model,
            ids=names,
            mixtures=_mixtures(model, known, engine),
            directions=meaning.directions(means, common),
            common=common,
            words=WordIndex.of(words, counts),
            counts=counts,
            blend=blend or Blend(),
        )

    def search(self, query: Text, n: int = 10) -> list[Hit]:
        """Find the documents that fit a few words or a whole text, best first.

        Parameters
        ----------
        query : str, Document or token list
            What to look for.
        n : int
            How many documents.

        Returns
        -------
        list of Hit
            None if no word of the query is known to the vectors or to the documents.
        """
        stop = stop_words(self.model.stop_words)
        tokens = reader_of(self.model).tokens(query)
        words = Counter(token for token in tokens if token not in stop)
        found = self._query(words)
        return [] if found is None else self._best(self._scores(found), n)

    def similar(self, index: int | str, n: int = 10) -> list[Hit]:
        """Find the documents most like one of them, best first.

        Parameters
        ----------
        index : int or str
            Place or id of the document.
        n : int
            How many documents, itself not counted.

        Returns
        -------
        list of Hit
        """
        row = self.row(index)
        cells = slice(self.counts.indptr[row], self.counts.indptr[row + 1])
        pairs = zip(self.counts.indices[cells], self.counts.data[cells], strict=True)
        words = Counter({self.words.words[column]: int(n_times) for column, n_times in pairs})
        if not words:
            return []
        scores = self._scores(_Query(self.mixtures[row], self.directions[row], words))
        scores[row] = -np.inf
        return self._best(scores, n)

    def row(self, index: int | str) -> int:
        """Give the place of a document from its place or its id, checked.

        Parameters
        ----------
        index : int or str
            Place or id.

        Returns
        -------
        int
        """
        if isinstance(index, str):
            if index not in self.ids:
                raise DataError(
                    f"no document is called {index!r}; the first is called {self.ids[0]!r}"
                )
            return self.ids.index(index)
        if not 0 <= index < len(self):
            raise DataError(f"expected a place between 0 and {len(self) - 1}; found {index}")
        return int(index)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the index, without the model, to one file; see `load`.

        Parameters
        ----------
        path : path
            Of the file; one that is there is replaced.
        """
        from topicvec.represent.index_file import write_index

        write_index(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str], model: TopicModel) -> "DocumentIndex":
        """Read an index that `save` wrote.

        Parameters
        ----------
        path : path
            The file.
        model : TopicVec
            The model that the index was built with.

        Returns
        -------
        DocumentIndex
        """
        from topicvec.represent.index_file import read_index

        return read_index(path, model)

    def _query(self, words: "Counter[str]") -> _Query | None:
        vectors = self.model.vectors_
        names = list(words)
        counts = csr_array([[words[name] for name in names]], dtype=np.int32)
        known = _known(reader_of(self.model), names, counts, vectors)
        if not known.nnz and not any(name in self.words.ids for name in names):
            return None
        here = InPlace()
        means = meaning.weighted_means(vectors, known, here)
        mixture = _mixtures(self.model, known, here)[0] * bool(known.nnz)
        return _Query(mixture, meaning.directions(means, self.common)[0], words)

    def _scores(self, query: _Query) -> Floats:
        weights = np.asarray(self.blend, np.float32) / np.float32(sum(self.blend))
        by_topics = self.mixtures @ query.mixture
        by_meaning = self.directions @ query.direction
        by_words = self.words.scores(query.words)
        scores: Floats = weights @ np.stack([by_topics, by_meaning, by_words])
        return scores

    def _best(self, scores: Floats, n: int) -> list[Hit]:
        return [Hit(int(row), self.ids[row], float(scores[row])) for row in best(scores, n)]


def _read(
    model: TopicModel, documents: Iterable[Text]
) -> tuple[tuple[str, ...], list[str], csr_array]:
    """Name the documents and count all their words but stop words."""
    reader, stop = reader_of(model), stop_words(model.stop_words)
    names: list[str] = []
    ids, builder = growing_ids(), BagBuilder()
    for texts in chunked(_checked(documents)):
        names += (_name(text, place) for place, text in enumerate(texts, len(names)))
        chunk = count_tokens([reader.tokens(text) for text in texts])
        for word in chunk.words:
            if word not in stop:
                ids[word]
        builder.add(chunk, ids)
    return tuple(names), list(ids), builder.build(len(ids)).counts


def _name(text: Text, place: int) -> str:
    return text.id if isinstance(text, Document) else str(place)


def _checked(documents: Iterable[Text]) -> Iterator[Text]:
    if isinstance(documents, (str, Document)) or hasattr(documents, "ndim"):
        kind = type(documents).__name__
        raise DataError(f"expected a list of texts, documents or token lists; found {kind}")
    return iter(documents)


def _known(
    reader: Reader, words: Sequence[str], counts: csr_array, vectors: WordVectors
) -> csr_array:
    """Turn counts of words (D, V) into counts over the rows of the vectors (D, W)."""
    rows_of = reader.known(words, vectors)
    rows = np.array([rows_of.get(word, -1) for word in words], dtype=np.int64)
    kept = counts[:, np.flatnonzero(rows >= 0)]
    shape = (counts.shape[0], len(vectors))
    known = csr_array((kept.data, rows[rows >= 0][kept.indices], kept.indptr), shape=shape)
    known.sort_indices()
    return known


def _mixtures(model: TopicModel, known: csr_array, engine: Engine) -> Floats:
    proportions = infer(model.fitted_, known, engine).proportions
    roots: Floats = np.sqrt(proportions).astype(np.float32)
    return roots

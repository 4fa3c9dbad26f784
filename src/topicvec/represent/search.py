"""Search in documents: by topics, by meaning and by the very words, in one score.

An index is kept as one safetensors file; nothing in it is ever executed. Its metadata have a card:
the blend, and a fingerprint of the model, which is a file of its own. Names and words are bytes
with lengths.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.checks import check_choice
from topicvec.embed.nearest import best
from topicvec.engine import InPlace, one_blas_thread, resolve_engine
from topicvec.errors import DataError, VocabularyMismatch
from topicvec.model.counts import report_unknown
from topicvec.model.fitted import FittedTopics
from topicvec.model.inference import infer, one_pass
from topicvec.model.topicvec import TopicVec
from topicvec.represent.blend import Blend, choose_blend, halves
from topicvec.represent.documents import counter_of
from topicvec.represent.similarity import kernel_root, unit_rows
from topicvec.represent.topics import topic_kernel
from topicvec.represent.transport import topic_distances, transport_distance
from topicvec.represent.words import (
    WordIndex,
    common_direction,
    known_counts,
    read_words,
    unknown_report,
    weighted_means,
    without_common,
)
from topicvec.stored import (
    TEXT,
    Layout,
    Stored,
    mapping,
    number,
    read_tensors,
    sparse_parts,
    write_tensors,
)
from topicvec.text.counting import DocumentLike

__all__ = ["Blend", "DocumentIndex", "Hit", "Rerank"]

Floats = NDArray[np.float32]
Tensors = dict[str, NDArray[Any]]
AnyPath = str | PathLike[str]
Rerank = Literal["transport"]

_LAYOUT = Layout("topicvec-index", 3, "document index", "build it again", oldest=3)
_CARD = {"blend": mapping(number(0)), "model": TEXT, "documents": TEXT}
_DENSE = ("mixtures", "points", "directions", "common")
_N_LOOKED_IN, _N_ASKED = 4000, 200  # documents that choose the blend
_N_RERANKED, _N_KEPT = 100, 8  # documents, and topics of each that transport looks at


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
        How well it fits, at most 1; below 0 if its topics or its meaning are opposite.
    text : str
        How it begins.

    Examples
    --------
    >>> Hit(4, "a.txt", 0.7).id
    'a.txt'
    """

    index: int
    id: str
    score: float
    text: str = ""


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
    points : array, (D, K), float32
        Their mixtures without a prior as points of length 1, near each other also if their topics
        are not the same but alike; see `topicvec.represent.mixture_points`.
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
    beginnings : tuple of str
        Of the texts of the documents, as hits show them; none in an index of an older version.
    digest : str
        Of the documents; empty in an index of an older version.

    Examples
    --------
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car", "bus"], np.eye(4)[[0, 0, 1, 1]], [1, 1, 1, 1])
    >>> texts = ["cat dog cat", "bus car bus", "dog", "car car bus"]
    >>> index = DocumentIndex.build(TopicVec(2, vectors, random_state=0).fit(texts), texts)
    >>> [hit.index for hit in index.search("a dog", n=2)]
    [2, 0]
    >>> index.similar(1, n=1)[0].id
    '3'
    """

    model: TopicVec
    ids: tuple[str, ...]
    mixtures: Floats
    points: Floats
    directions: Floats
    common: Floats
    words: WordIndex
    counts: csr_array
    blend: Blend
    beginnings: tuple[str, ...] = ()
    digest: str = ""

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"DocumentIndex({len(self):,} documents, {len(self.words.words):,} words)"

    @classmethod
    def build(
        cls, model: TopicVec, documents: Iterable[DocumentLike], *, blend: Blend | None = None
    ) -> "DocumentIndex":
        """Read documents and make them ready for search.

        Parameters
        ----------
        model : TopicVec
            A fitted model.
        documents : iterable of str, Document or token lists
            A stream will do; only the beginnings of the texts are kept. A document without an id
            is named by its place.
        blend : Blend, optional
            How much topics, meaning and words count. By default the documents choose: what is
            found for one half of a document should have the words of its other half.

        Returns
        -------
        DocumentIndex
        """
        if blend is not None and not (min(blend) >= 0 and sum(blend) > 0):
            raise DataError(f"a blend has no negative part and one that is positive; found {blend}")
        names, beginnings, words, counts, digest = read_words(model, documents)
        engine = resolve_engine(model.n_jobs)
        known = known_counts(counter_of(model), words, counts, model.vectors_)
        report_unknown(unknown_report(words, counts, model.vectors_))
        index = WordIndex.of(words, counts)
        means = weighted_means(model.vectors_, known, index.weights(model.vectors_), engine)
        common = common_direction(means, engine)
        root = kernel_root(topic_kernel(model))
        found = cls(
            model=model,
            ids=names,
            mixtures=_roots(infer(model.fitted_, known, engine).theta),
            points=_points(one_pass(model.fitted_, known, engine), root),
            directions=without_common(means, common),
            common=common,
            words=index,
            counts=counts,
            blend=blend or Blend(),
            beginnings=beginnings,
            digest=digest,
        )
        return found if blend else replace(found, blend=found._chosen_blend())

    def search(
        self, query: DocumentLike, n: int = 10, *, rerank: Rerank | None = None
    ) -> list[Hit]:
        """Find the documents that fit a few words or a whole text, best first.

        Parameters
        ----------
        query : str, Document or token list
            What to look for.
        n : int
            How many documents.
        rerank : "transport", optional
            Put the best n, at least 100, in the order of their topic mover's distance, see
            `topicvec.represent.transport_distance`; the score is then 1 for a distance of 0, and 0
            for the longest between two topics. A query without a word that has a vector has no
            topics and is not re-ranked.

        Returns
        -------
        list of Hit
            None if no word of the query is known to the vectors or to the documents.
        """
        reader = counter_of(self.model)
        words = Counter(word for word in reader.tokens(query) if word not in reader.stop_words)
        counts = csr_array([[*words.values()]], dtype=np.int32)
        points, directions = self._described([*words], counts)
        known = points.any() or directions.any()
        if not known and not any(word in self.words.ids for word in words):
            return []
        scores = self._scores(points[0], directions[0], words)
        return self._best(self._reranked(scores, n, [*words], counts, rerank), n)

    def similar(self, index: int | str, n: int = 10, *, rerank: Rerank | None = None) -> list[Hit]:
        """Find the documents most like one of them, best first.

        Parameters
        ----------
        index : int or str
            Place or id of the document.
        n : int
            How many documents, itself not counted.
        rerank : "transport", optional
            As for `search`.

        Returns
        -------
        list of Hit
        """
        row = self.row(index)
        words = self._words_of(self.counts, row)
        if not words:
            return []
        scores = self._scores(self.points[row], self.directions[row], words)
        scores[row] = -np.inf
        counts = self.counts[[row]]
        return self._best(self._reranked(scores, n, self.words.words, counts, rerank), n)

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
            if index in self.ids:
                return self.ids.index(index)
            raise DataError(
                f"no document is called {index!r}; the first is called {self.ids[0]!r}. To find "
                "documents by a word, use search"
            )
        if not 0 <= index < len(self):
            raise DataError(f"expected a place between 0 and {len(self) - 1}; found {index}")
        return int(index)

    def save(self, path: AnyPath) -> None:
        """Write the index, without the model, to one file; see `load`.

        Parameters
        ----------
        path : path
            Of the file; one that is there is replaced.
        """
        tensors = {
            **{name: getattr(self, name) for name in _DENSE},
            "telling": self.words.telling,
            **sparse_parts("table", self.words.table),
            **sparse_parts("counts", self.counts),
            **_packed("ids", self.ids),
            **_packed("words", self.words.words),
            **_packed("beginnings", self.beginnings),
        }
        blend, made_with = self.blend._asdict(), _fingerprint(self.model.fitted_)
        card = json.dumps({"blend": blend, "model": made_with, "documents": self.digest})
        about = {"format": _LAYOUT.name, "version": str(_LAYOUT.version), "card": card}
        write_tensors(Path(path), tensors, about)

    @classmethod
    def load(cls, path: AnyPath, model: TopicVec) -> "DocumentIndex":
        """Read an index that `save` wrote; refuse one that is damaged or of another model.

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
        stored = read_tensors(Path(path), _LAYOUT, checksum=True)
        card = stored.card("card", _CARD, "blend", "model")
        if card["model"] != _fingerprint(model.fitted_):
            raise VocabularyMismatch(
                f"{path} was built with another model: load that model, or build the index again"
            )
        return _index(stored, card, model)

    @cached_property
    def _word_weights(self) -> Floats:
        return self.words.weights(self.model.vectors_)

    @cached_property
    def _kernel_root(self) -> NDArray[np.float64]:
        return kernel_root(topic_kernel(self.model))

    def _described(self, words: Sequence[str], counts: csr_array) -> tuple[Floats, Floats]:
        """Give queries, as counts (Q, V) of words, as points (Q, K) and directions (Q, N)."""
        vectors, here = self.model.vectors_, InPlace()
        known = known_counts(counter_of(self.model), words, counts, vectors)
        means = weighted_means(vectors, known, self._word_weights, here)
        # Without a prior, which would drown the few words of a query.
        points = _points(one_pass(self.model.fitted_, known, here), self._kernel_root)
        return points, without_common(means, self.common)

    def _words_of(self, counts: csr_array, row: int) -> dict[str, int]:
        cells = slice(counts.indptr[row], counts.indptr[row + 1])
        pairs = zip(counts.indices[cells], counts.data[cells], strict=True)
        return {self.words.words[column]: int(n_times) for column, n_times in pairs}

    def _scores(self, point: Floats, direction: Floats, words: Mapping[str, int]) -> Floats:
        weights = np.asarray(self.blend, np.float32) / np.float32(sum(self.blend))
        parts = self.points @ point, self.directions @ direction, self.words.scores(words)
        return np.asarray(weights @ np.stack(parts))

    def _reranked(
        self,
        scores: Floats,
        n: int,
        words: Sequence[str],
        counts: csr_array,
        rerank: Rerank | None,
    ) -> Floats:
        """Score the best documents (D,) by transport from a query, as counts (1, V); no others."""
        if rerank is None:
            return scores
        check_choice("rerank", rerank, *get_args(Rerank))
        asked = self._mixtures(words, counts)
        if not asked.any():
            return scores
        rows = best(scores, max(n, _N_RERANKED))
        found = self._mixtures(self.words.words, self.counts[rows])
        known = found.any(axis=1)  # one without a known word is no hit, whatever the query
        distances = transport_distance(self.model, asked, found[known], keep=_N_KEPT)[0]
        again = np.full(len(self), -np.inf, np.float32)
        again[rows[known]] = 1 - distances / max(topic_distances(self.model).max(), 1e-300)
        return again

    def _mixtures(self, words: Sequence[str], counts: csr_array) -> NDArray[np.float64]:
        """Give proportions (Q, K) without a prior of counts (Q, V); zero where no word is known."""
        known = known_counts(counter_of(self.model), words, counts, self.model.vectors_)
        expected = one_pass(self.model.fitted_, known, InPlace()).astype(float)
        return np.asarray(expected / np.maximum(expected.sum(axis=1, keepdims=True), 1e-300))

    @one_blas_thread()
    def _chosen_blend(self) -> Blend:
        """Let halves of some documents say how much each part should count."""
        rows = _evenly(np.arange(len(self)), _N_LOOKED_IN)
        several = np.flatnonzero(np.diff(self.counts.indptr)[rows] > 1)
        own = _evenly(several, _N_ASKED)
        first, second = halves(self.counts[rows[own]])
        return choose_blend(self._parts(first, rows), self._parts(second, rows), own)

    def _parts(self, counts: csr_array, rows: NDArray[np.integer]) -> Floats:
        """Score documents (3, Q, rows) for queries (Q, V) by each part."""
        points, directions = self._described(self.words.words, counts)
        queries = range(counts.shape[0])
        words = [self.words.scores(self._words_of(counts, query))[rows] for query in queries]
        by_words = np.reshape(words, (len(words), len(rows)))
        parts = points @ self.points[rows].T, directions @ self.directions[rows].T, by_words
        return np.stack(parts).astype(np.float32, copy=False)

    def _best(self, scores: Floats, n: int) -> list[Hit]:
        texts = self.beginnings or [""] * len(self)
        return [Hit(int(i), self.ids[i], float(scores[i]), texts[i]) for i in best(scores, n)]


def _roots(masses: NDArray[np.floating]) -> Floats:
    """Give square roots of proportions; zero where there is nothing."""
    totals = np.maximum(masses.sum(axis=1, keepdims=True), 1e-300)
    return np.asarray(np.sqrt(masses / totals), np.float32)


def _points(expected: NDArray[np.floating], root: NDArray[np.float64]) -> Floats:
    """Give expected counts of topics (D, K) as points of length 1; zero where there is nothing."""
    return unit_rows(_roots(expected) @ root).astype(np.float32)


def _evenly(places: NDArray[np.integer], n: int) -> NDArray[np.integer]:
    """Take at most n of them, evenly."""
    taken = np.linspace(0, len(places) - 1, min(n, len(places))).astype(int)
    return np.asarray(places[taken])


def _index(stored: Stored, card: Mapping[str, Any], model: TopicVec) -> DocumentIndex:
    ids = stored.texts("ids.bytes", "ids.lengths")
    words = stored.distinct("words", stored.texts("words.bytes", "words.lengths"))
    k, size = model.fitted_.n_topics, model.vectors_.n_dims
    shapes = {"mixtures": (len(ids), k), "points": (len(ids), k), "directions": (len(ids), size)}
    blend = stored.fields("blend", card["blend"], dict.fromkeys(Blend._fields, number(0)))
    if set(blend) != set(Blend._fields) or not sum(blend.values()) > 0:
        stored.refuse("blend", f"{', '.join(Blend._fields)}, one of them positive", blend)
    telling = stored.numbers("telling", (len(words),), least=0)
    table = stored.table("table", (len(words), len(ids)))
    beginnings = stored.texts("beginnings.bytes", "beginnings.lengths")
    if len(beginnings) not in (0, len(ids)):
        stored.refuse("beginnings", f"none or {len(ids)} texts", len(beginnings))
    return DocumentIndex(
        model=model,
        ids=ids,
        **{name: stored.numbers(name, shape) for name, shape in shapes.items()},
        common=stored.numbers("common", (size,)),
        words=WordIndex(words, telling, table),
        counts=stored.table("counts", (len(ids), len(words)), "iuf"),
        blend=Blend(**blend),
        beginnings=beginnings,
        digest=card.get("documents", ""),
    )


def _packed(name: str, texts: Iterable[str]) -> Tensors:
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    lengths = np.array([len(text) for text in encoded], np.int64)
    return {f"{name}.bytes": np.frombuffer(b"".join(encoded), np.uint8), f"{name}.lengths": lengths}


def _fingerprint(fitted: FittedTopics) -> str:
    digest = hashlib.sha256(fitted.vectors.content_hash.encode())
    for array in (fitted.topics, fitted.residuals, fitted.alpha, fitted.pseudo):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()

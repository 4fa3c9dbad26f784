"""The records that the EM loop passes on, and the counts and words that it works on.

Arrays in them are read-only. Work is cut into pieces here, once, by the data alone: shards of
documents, blocks of word types, blocks of vocabulary rows. No piece depends on the number of
workers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix

from topicvec.checks import check_choice, check_number, check_whole
from topicvec.errors import DataError

__all__ = [
    "FEW_DOCUMENTS",
    "ROWS",
    "Corpus",
    "DocStats",
    "Lexicon",
    "PaperSolver",
    "Record",
    "Shard",
    "Solver",
    "StepInfo",
    "TopicState",
    "cut_evenly",
    "cut_growing",
    "cut_words",
    "group_shards",
    "loaded",
    "shard_cost",
]

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]
Bools = NDArray[np.bool_]

FEW_DOCUMENTS = 8  # done by the readable loops before the compiled ones are loaded
_N_PIECES = 48  # enough for many workers
_LEAST_COST = 20_000.0  # of a piece, so that it outweighs its overhead
_MOST_COST = 500_000.0  # of a shard: what many workers hold at once stays small
_GROWTH = 16  # shards before the next one is larger
ROWS = 2048  # of a block of words, whose logits stay in the cache for the passes over them
_GROUP_COST = 2_000_000.0  # of shards whose sums are added before they meet others


class Record:
    """A frozen dataclass whose arrays are read-only.

    A view keeps its base writable, so nothing outside the record changes.
    """

    def __post_init__(self) -> None:
        for each in fields(self):  # type: ignore[arg-type]
            value = getattr(self, each.name)
            if isinstance(value, np.ndarray):
                view = value.view()
                view.flags.writeable = False
                object.__setattr__(self, each.name, view)


_LEAST = 1e-12  # of what must not be zero
_LARGEST_RATE = 1e12  # a step beyond all balls


@dataclass(frozen=True)
class Solver:
    """How EM goes about its work.

    Parameters
    ----------
    method : {"newton", "paper"}
        How the M-step moves the topics, see `topicvec.model.mstep`.
    inner_tol : float
        A document is done when less than this share of its tokens changed topic in a pass.
    max_passes : int
        Limit of passes over a document in one E-step.
    learning_rate, base_length : float
        λ_0 and L_0 of the paper's method.
    n_steps : int
        Steps of the topics after each E-step.
    start : {"even", "paper"}
        Where a document's mixture starts: its tokens dealt evenly among topics, or θ = 1. With
        "paper" also topics start at random, unless ``init`` says otherwise.
    n_normalizer_words : int, optional
        Normalise topics over only so many of the most frequent words; faster with large
        vocabularies.
    max_norm : float
        Radius γ of the ball that holds the topics; `TopicVec` puts its own here.
    learn_alpha : bool
        Whether the prior of the mixtures is learned (asymmetric); `TopicVec` says so here.
    pseudo_tokens : float or None
        m: how many tokens the vector of a topic is worth beside the tokens that the topic has;
        infinity is the paper's model, None learns it. `TopicVec` says so here.

    Examples
    --------
    >>> Solver(max_passes=10).method
    'newton'
    """

    method: Literal["newton", "paper"] = "newton"
    inner_tol: float = 1e-2
    max_passes: int = 5
    learning_rate: float = 0.1
    base_length: float = 10000.0
    n_steps: int = 1
    start: Literal["even", "paper"] = "even"
    n_normalizer_words: int | None = None
    max_norm: float = 7.0
    learn_alpha: bool = False
    pseudo_tokens: float | None = np.inf

    def __post_init__(self) -> None:
        check_choice("solver", self.method, "newton", "paper")
        check_choice("start", self.start, "even", "paper")
        check_whole("max_passes", self.max_passes, 1)
        check_whole("n_steps", self.n_steps, 1)
        if self.n_normalizer_words is not None:
            check_whole("n_normalizer_words", self.n_normalizer_words, 1)
            object.__setattr__(self, "n_normalizer_words", int(self.n_normalizer_words))
        check_number("inner_tol", self.inner_tol)
        check_number("learning_rate", self.learning_rate, _LEAST, _LARGEST_RATE)
        check_number("base_length", self.base_length, _LEAST)
        if not 0 < self.max_norm < np.inf:
            raise DataError(f"max_norm must be positive and finite; found {self.max_norm}")


def PaperSolver(  # noqa: N802 - reads as what it gives
    learning_rate: float = 0.1,
    length: float = 10000.0,
    n_passes: int = 1,
    n_steps: int = 1,
    start: Literal["even", "paper"] = "paper",
) -> Solver:
    """Solve as the paper and its program do: gradient steps from random topics and θ = 1.

    The paper names λ_0 = 0.1 alone. What it leaves open is as in the program of its time. The
    paper starts at T = 0, from where topics never part (`test_topics_never_part_from_zero`), so
    they start at random unit vectors, as in the program.

    Parameters
    ----------
    learning_rate : float
        λ_0.
    length : float
        L_0: steps in texts of more tokens are shortened in proportion.
    n_passes : int
        Passes over a document in one E-step. The program takes one; the paper says "until
        convergence", which is a large number here.
    n_steps : int
        Steps of the topics after each E-step; the program takes one for an article and 5 for a
        corpus. ``max_iter`` counts E-steps.
    start : {"paper", "even"}
        As for `Solver`.

    Returns
    -------
    Solver
        For ``TopicVec(solver=...)``, whose ``solver="paper"`` is this one with its defaults.

    Examples
    --------
    >>> PaperSolver(learning_rate=0.05, length=2500).method
    'paper'
    """
    check_number("length", length, _LEAST)
    check_whole("n_passes", n_passes, 1)
    return Solver(
        method="paper",
        max_passes=n_passes,
        learning_rate=learning_rate,
        base_length=length,
        n_steps=n_steps,
        start=start,
    )


@dataclass(frozen=True)
class TopicState(Record):
    """Everything that is needed to go on from an iteration, to the bit.

    Parameters
    ----------
    topics : array, (K, N)
        Topic vectors T; row 0 is the null topic.
    residuals : array, (K,)
        Topic residuals r.
    alpha : array, (K,)
        Prior of the documents' mixtures.
    theta : sequence of arrays, (d, K)
        Dirichlet parameters of the documents' mixtures, shard by shard; zero where a topic is not
        allowed.
    curvature : array, (K,)
        The solver's running estimate of each topic's curvature.
    iteration : int
        How many iterations led here.
    bound : float
        The bound of the corpus here; minus infinity before the first iteration.
    bounds : tuple of float
        The bound for each token after each iteration so far.
    own : array, (U, K), float32
        Tokens of each word type in each topic, from which topics have words of their own; no
        rows before they have any.
    pseudo : array, (K,)
        Pseudo-tokens m of each topic; infinite for one without words of its own.
    """

    topics: Floats
    residuals: Floats
    alpha: Floats
    theta: Sequence[Floats]
    curvature: Floats
    own: Floats
    pseudo: Floats
    iteration: int = 0
    bound: float = -np.inf
    bounds: tuple[float, ...] = ()


@dataclass(frozen=True)
class DocStats(Record):
    """What the documents say about the topics. Statistics of parts of a corpus add.

    Parameters
    ----------
    mass : array, (K,)
        Expected number of tokens of each topic, m̄.
    drawn : array, (K,)
        How many of them its vector answers for: all, unless topics have words of their own.
    moment : array, (K, N)
        Sum of the vectors of these, S.
    log_phi : array, (K,)
        Sum over documents of E[log φ_dk]; zero unless the prior is learned.
    bound : float
        The bound of these documents.
    n_tokens : float
        Number of tokens.
    n_documents : int
        Number of documents.
    n_passes : int
        Passes over documents.

    Examples
    --------
    >>> one = DocStats(np.ones(2), np.ones(2), np.ones((2, 3)), np.zeros(2), -5.0, 2.0, 1, 4)
    >>> (one + one).bound
    -10.0
    """

    mass: Floats
    drawn: Floats
    moment: Floats
    log_phi: Floats
    bound: float
    n_tokens: float
    n_documents: int
    n_passes: int

    def __add__(self, other: "DocStats") -> "DocStats":
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return DocStats(*(a + b for a, b in pairs))


@dataclass(frozen=True)
class StepInfo:
    """What happened in one iteration; callbacks are told it.

    Parameters
    ----------
    iteration : int
        1 for the first.
    bound : float
        The bound for each token at the state that comes with this record.
    change : float
        Its rise in this iteration; infinite in the first.
    topic_mass : array, (K,)
        Expected number of tokens of each topic.
    n_accepted : int
        Topics that moved.
    n_passes : int
        Passes over documents in the E-step.
    seconds_e, seconds_m : float
        Wall-clock time of the two steps.
    max_iter : int
        At most so many iterations there will be; 0 if nobody said.
    group : str or None
        The class, where each has its own topics.
    """

    iteration: int
    bound: float
    change: float
    topic_mass: Floats
    n_accepted: int
    n_passes: int
    seconds_e: float
    seconds_m: float
    max_iter: int = 0
    group: str | None = None


def cut_evenly(
    cost: Floats, n_pieces: int = _N_PIECES, least_cost: float = _LEAST_COST
) -> tuple[slice, ...]:
    """Cut a row of items into consecutive pieces of about equal cost, fewer if they would be tiny.

    Examples
    --------
    >>> cut_evenly(np.array([1.0, 1.0, 2.0]), 2, least_cost=1.0)
    (slice(0, 2, None), slice(2, 3, None))
    """
    total = np.cumsum(cost, dtype=float)
    if not len(total):
        return ()
    n_pieces = int(np.clip(np.ceil(total[-1] / least_cost), 1, n_pieces))
    goals = total[-1] * np.arange(1, n_pieces) / n_pieces
    edges = np.unique(np.concatenate([[0], np.searchsorted(total, goals) + 1, [len(cost)]]))
    edges = edges[edges <= len(cost)]
    return tuple(slice(int(a), int(b)) for a, b in pairwise(edges))


@dataclass(frozen=True)
class Lexicon(Record):
    """The words that a fit needs: those of the normaliser and those of the corpus.

    Parameters
    ----------
    vectors : array, (W, N)
        Word vectors; a view of the given ones when all words are in the normaliser.
    unigram : array, (W,)
        Probabilities; sums to 1 over the normaliser and is zero outside.
    log_unigram : array, (U,)
        Log-probabilities of the corpus's word types, on the same scale.
    rows : array, (U,)
        Row of each word type of the corpus, increasing.

    Attributes
    ----------
    squares : array, (W,)
        Squared norm of each vector.
    centre : array, (N,)
        Mean of the vectors under the unigram distribution.
    """

    vectors: Floats
    unigram: Floats
    log_unigram: Floats
    rows: Ints
    squares: Floats = field(init=False)
    centre: Floats = field(init=False)

    def __post_init__(self) -> None:
        squares = np.einsum("wn,wn->w", self.vectors, self.vectors)
        object.__setattr__(self, "squares", squares)
        centre = self.unigram.astype(self.vectors.dtype) @ self.vectors
        object.__setattr__(self, "centre", centre)
        super().__post_init__()

    def blocks(self) -> list[tuple[slice, Ints]]:
        """Cut the words into blocks; say where in each the corpus's word types are."""
        starts = np.arange(0, len(self.vectors), ROWS)
        edges = np.searchsorted(self.rows, np.append(starts, len(self.vectors)))
        return [
            (slice(start, start + ROWS), self.rows[first:last] - start)
            for start, (first, last) in zip(starts.tolist(), pairwise(edges), strict=True)
        ]

    @classmethod
    def of(
        cls, vectors: Floats, unigram: Floats, types: Ints, n_normalizer_words: int | None = None
    ) -> "Lexicon":
        """Take the vectors of the normaliser's words and of the corpus's word types."""
        u = np.asarray(unigram, dtype=float)
        if n_normalizer_words is None or n_normalizer_words >= len(u):
            return cls(vectors, u / u.sum(), np.log(u[types] / u.sum()), types)
        common = np.argsort(-u, kind="stable")[:n_normalizer_words]
        inside = np.zeros_like(u)
        inside[common] = u[common]
        total = u[common].sum()
        needed = np.union1d(common, types)
        return cls(
            vectors[needed],
            inside[needed] / total,
            np.log(u[types] / total),
            np.searchsorted(needed, types),
        )


def number_words(words: Ints) -> tuple[Ints, Ints]:
    """Find the different words, and the place of each word among them; without a sort.

    Examples
    --------
    >>> number_words(np.array([7, 3, 7], np.int32))
    (array([3, 7], dtype=int32), array([1, 0, 1], dtype=int32))
    """
    seen = np.bincount(words) > 0
    places = np.cumsum(seen, dtype=np.int32) - 1
    return np.flatnonzero(seen).astype(words.dtype), places[words]


def cut_words(n: int) -> tuple[slice, ...]:
    """Cut so many word types into blocks for matrix products."""
    return cut_evenly(np.full(n, 100.0))


def cut_growing(cost: Floats) -> tuple[slice, ...]:
    """Cut a row of documents into consecutive shards, of which later ones are larger.

    A shard ends with the document that brings its cost to a sixteenth of all before it, within
    limits. So a reader that does not know how many will come cuts as one that has them all, and
    both have the same bits.

    Examples
    --------
    >>> cut_growing(np.full(5, 10_000.0))
    (slice(0, 2, None), slice(2, 4, None), slice(4, 5, None))
    """
    total, edges = np.concatenate([[0.0], np.cumsum(cost, dtype=float)]), [0]
    while edges[-1] < len(cost):
        before = total[edges[-1]]
        size = shard_cost(before)
        edges.append(min(int(np.searchsorted(total, before + size)), len(cost)))
    return tuple(slice(a, b) for a, b in pairwise(edges))


def shard_cost(before: float) -> float:
    """Say how large a shard is behind documents of such a cost."""
    return float(np.clip(before / _GROWTH, _LEAST_COST, _MOST_COST))


def group_shards(costs: Floats) -> tuple[slice, ...]:
    """Cut a row of shards into consecutive groups, by their cost alone.

    The sums of a group are added where its shards are, and only then meet those of others. A
    corpus of less than two groups is one, and no shards are one too, so that there is a sum.

    Examples
    --------
    >>> group_shards(np.full(10, 500_000.0))
    (slice(0, 5, None), slice(5, 10, None))
    """
    groups = cut_evenly(costs, max(1, int(np.sum(costs) / _GROUP_COST)), _GROUP_COST)
    return groups or (slice(0, 0),)


def loaded(value: Any) -> Any:
    """Read what waits in a file, as shards and mixtures of a prepared corpus do.

    Examples
    --------
    >>> loaded("here already")
    'here already'
    """
    return value.load() if hasattr(value, "load") else value


@dataclass(frozen=True)
class Shard(Record):
    """Some consecutive documents of a corpus.

    Parameters
    ----------
    rows, place : slices
        Where its documents and its cells are in the corpus.
    indptr, words, counts : arrays
        CSR by document; ``words`` index the types of the corpus.
    group : array, (D,)
        Each document's row of ``allowed``.
    types : array, (U,)
        Types that these documents have.
    places : array, (nnz,)
        Where the word of each cell is among these.
    """

    rows: slice
    place: slice
    indptr: Ints
    words: Ints
    counts: Floats
    group: Ints
    types: Ints
    places: Ints

    @classmethod
    def of(
        cls, rows: slice, place: slice, indptr: Ints, words: Ints, counts: Floats, group: Ints
    ) -> "Shard":
        """Find the types that documents have."""
        types, places = number_words(words)
        return cls(rows, place, indptr, words, counts, group, types, places)


@dataclass(frozen=True)
class Corpus(Record):
    """Counts of documents × word types, cut into shards of documents.

    Parameters
    ----------
    shards : tuple of Shard
        The documents; how they are cut depends on the documents alone.
    types : array, (U,)
        Column of the given counts of each word type.
    type_counts, type_documents : arrays, (U,)
        How often each type occurs, and in how many documents.
    sizes : array, (n_groups,)
        Number of documents of each group.
    allowed : array, (n_groups, K)
        Topics that the documents of a group may use.
    blocks : tuple of slices
        Pieces of the word types.
    compiled : bool
        Whether the compiled loops are to be used, see `topicvec.model.estep`.
    store : Store, optional
        Where files with the mixtures of shards are, see `topicvec.model.stored`; they are kept in
        memory by default.
    """

    shards: tuple[Shard, ...]
    types: Ints
    type_counts: Floats
    type_documents: Ints
    sizes: Ints
    allowed: Bools
    blocks: tuple[slice, ...]
    compiled: bool
    store: Any = None

    @cached_property
    def groups(self) -> tuple[slice, ...]:
        """Shards whose sums are added before they meet others."""
        sizes = [(each.place, each.rows) for each in self.shards]
        costs = [cells.stop - cells.start + 4.0 * (d.stop - d.start) for cells, d in sizes]
        return group_shards(np.array(costs))

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return int(self.sizes.sum())

    def cut(self, table: Floats) -> tuple[Floats, ...]:
        """Cut a table that has a row for each document into shards."""
        return tuple(table[shard.rows] for shard in self.shards)

    @property
    def n_cells(self) -> int:
        """Number of counts that are not zero."""
        return int(self.type_documents.sum())

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """Precision of counts, and so of mixtures."""
        return self.shards[0].counts.dtype if self.shards else np.dtype(np.float32)

    @classmethod
    def of(
        cls,
        counts: csr_matrix | csr_array,
        n_topics: int,
        allowed: Bools | None = None,
        dtype: type[np.floating] = np.float32,
        compiled: bool | None = None,
    ) -> "Corpus":
        """Lay out counts of documents × words, with an optional documents × topics mask."""
        table = csr_array(counts, copy=True)  # the given one stays as it is
        table.sum_duplicates()
        table.eliminate_zeros()
        types, words = number_words(table.indices)
        per_type = np.bincount(words, minlength=len(types))
        groups, group = np.ones((1, n_topics), bool), np.zeros(table.shape[0], np.int32)
        if allowed is not None:  # number the distinct rows of the mask
            groups, group = np.unique(np.asarray(allowed, bool), axis=0, return_inverse=True)
            group = group.ravel().astype(np.int32)
        type_counts = np.bincount(words, table.data, minlength=len(types)).astype(float)
        indptr = table.indptr.astype(np.int64)
        cells = table.data.astype(dtype)
        shards = []
        for rows in cut_growing(np.diff(indptr) + 4.0):  # a document costs even when short
            edges = indptr[rows.start : rows.stop + 1]
            place = slice(int(edges[0]), int(edges[-1]))
            theirs = edges - edges[0], words[place], cells[place], group[rows]
            shards.append(Shard.of(rows, place, *theirs))
        return cls(
            shards=tuple(shards),
            types=types.astype(np.int64),
            type_counts=type_counts,
            type_documents=per_type,
            sizes=np.bincount(group, minlength=len(groups)),
            allowed=groups,
            blocks=cut_words(len(types)),
            compiled=table.shape[0] > FEW_DOCUMENTS if compiled is None else compiled,
        )

"""The E-step: the mixtures of documents under topics, and what they say of words.

`e_step` walks over the documents of a shard, finds their mixtures and adds up the tokens of its
words in the topics. Most topics of a document are negligible: after a first pass over all of them
it goes on with those that have more than a trace of the document (`least_mass`), and the others
get nothing. The bound is that of what is left, exactly; a topic that begins to explain a document
comes back in the first pass of the next E-step.

It is here to be read, made of `equations`, and does the work of small corpora: importing numba
and loading a compiled kernel takes longer than finding the topics of an article. Of more
documents the twin in `kernels` does it, which has the same signature
(`tests/model/core/test_kernels.py` says that they agree).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.engine import Engine, InPlace, Part, advance, hold, near
from topicvec.errors import EngineError
from topicvec.model import equations
from topicvec.model.own import OwnWords
from topicvec.model.state import Corpus, Lexicon, Record, Shard, cut_words, loaded

__all__ = [
    "LEAST_WEIGHT",
    "Inferred",
    "Link",
    "ShardRound",
    "Sums",
    "e_step",
    "even_theta",
    "fill_shard",
    "having",
    "least_mass",
    "likelihoods",
    "mix",
    "one_theta",
    "sum_documents",
    "sum_shards",
    "word_dots",
    "words_moment",
]

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]
Bools = NDArray[np.bool_]
Piece = tuple[Any, ...]

LEAST_WEIGHT = {"f": 1e-18, "d": 1e-140}  # by precision: the product of two never underflows


@dataclass(frozen=True, eq=False)
class Inferred(Record):
    """Mixtures of documents under fixed topics, with what is needed to sum up words.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    theta : array, (D, K), float32
        Dirichlet parameters of their mixtures; zero where a topic is not allowed.
    mass : array, (K,)
        Expected number of tokens of each topic.
    bound : float
        The bound of these documents.
    n_passes : int
        Passes over documents.
    table : array, (U, K)
        exp(logits) of the word types, up to a factor for each.
    words : array, (U, K)
        C_wk = Σ_d n_dw π_dwk, tokens of the word types in the topics.
    """

    corpus: Corpus
    theta: Floats
    mass: Floats
    bound: float
    n_passes: int
    table: Floats
    words: Floats

    @property
    def n_tokens(self) -> float:
        """Number of tokens."""
        return float(self.corpus.type_counts.sum())

    @cached_property
    def proportions(self) -> Floats:
        """Posterior mean of each document's mixture (D, K); rows sum to 1."""
        means: Floats = self.theta / self.theta.sum(axis=1, keepdims=True, dtype=float)
        return means

    def responsibilities(self, document: int | Ints, rows: Ints) -> Floats:
        """Give the topics' probabilities (J, K) for words of a document, or of one for each."""
        places = np.searchsorted(self.corpus.types, rows)
        weight = equations.mixture_weight(
            self.theta[document].astype(float), LEAST_WEIGHT[self.table.dtype.char]
        )
        return equations.responsibilities(self.table[places], weight)


def least_mass(tol: float, n_tokens: float, n_topics: int) -> float:
    """Say how many tokens of a document a topic must have to be one of its topics.

    A share of ``tol`` of a token, or of the tokens for each topic if they are fewer. So what is
    left out is never more than a share of ``tol`` of the document, which is what a pass may leave
    unsettled; and some topic always has enough.

    Examples
    --------
    >>> least_mass(0.01, 1000.0, 100), least_mass(0.01, 5.0, 100)
    (0.01, 0.0005)
    """
    return min(tol, 0.5) * min(1.0, n_tokens / n_topics)


def e_step(
    indptr: Ints, words: Ints, counts: Floats, table: Floats, alpha: Floats, group: Ints,
    theta: Floats, tol: float, max_passes: int, floor: float, places: Ints,
    new_theta: Floats, C: Floats, mass: Floats,
) -> tuple[float, int]:  # fmt: skip
    """Find the mixtures of a shard of documents, warm-started from ``theta``.

    Parameters
    ----------
    indptr, words, counts : arrays
        CSR of the shard; ``words`` are rows of ``table``.
    table : array, (n_types, K)
        exp(logits), each row divided by its maximum.
    alpha : array, (n_groups, K)
        Prior of each group of documents; zero where a topic is not allowed.
    group : array, (D,)
        The group of each document.
    theta : array, (D, K)
        Dirichlet parameters to start from; zero where a topic is not allowed.
    tol : float
        A document is done when less than this share of its tokens changed topic.
    max_passes : int
        Limit of passes over a document; with one alone all its topics are kept.
    floor : float
        Smallest weight, see `LEAST_WEIGHT`.
    places : array, (nnz,)
        Rows of ``C`` for the words of the shard.
    new_theta, C, mass : arrays, (D, K), (n_here, K), (K,)
        Filled: θ (eq. 14); added: n_dw π_dwk of each word, and the topic mass.

    Returns
    -------
    tuple of float and int
        The bound of the shard without the row maxima, and the number of passes over documents.
    """
    bound, passes, several = 0.0, 0, max_passes > 1
    for d in range(len(indptr) - 1):
        cells = slice(indptr[d], indptr[d + 1])
        n, prior, L = counts[cells].astype(float), alpha[group[d]], table[words[cells]]
        least = least_mass(tol, n.sum(), len(prior)) if several else 0.0
        current = theta[d].astype(float)
        current = np.where(np.abs(current - prior) > least, current, prior)
        weight, ratio, m = _pass(n, L, current, floor)
        kept = np.flatnonzero(m > least)
        current, L, passes = (prior + m if several else current)[kept], L[:, kept], passes + several
        for _ in range(max_passes - several):
            passes += 1
            weight, ratio, m = _pass(n, L, current, floor)
            found = equations.dirichlet(prior[kept], m)
            change = np.abs(found - current).sum()
            current = found
            if change <= 2 * tol * n.sum():
                break
        new_theta[d], m_all, weight_all = prior, np.zeros(len(prior)), np.ones(len(prior))
        new_theta[d, kept], m_all[kept], weight_all[kept] = current, m, weight
        bound += equations.document_bound(prior, n, n / ratio, m_all, weight_all)
        mass += m_all
        C[np.ix_(places[cells], kept)] += ratio[:, None] * L * weight
    return bound, passes


def _pass(n: Floats, L: Floats, theta: Floats, floor: float) -> tuple[Floats, Floats, Floats]:
    """Pass over a document: give exp(E[log φ]), counts / evidence and the mass of its topics."""
    weight = equations.mixture_weight(theta, floor)
    with np.errstate(invalid="ignore"):  # OpenBLAS looks at lanes that it does not use
        ratio = n / equations.evidence(L, weight)
        return weight, ratio, equations.topic_mass(ratio, L, weight)


def even_theta(corpus: Corpus, alpha: Floats) -> tuple[Floats, ...]:
    """Deal the tokens of each document evenly among its topics, (d, K) of each shard.

    Where α is one number, `one_theta` leads to the same topics: only differences between topics
    count in the first pass (`test_a_start_at_ones_or_even_is_the_same`).
    """
    return _kept(corpus, lambda each: _even(each, corpus.allowed[each.group], alpha))


def _kept(corpus: Corpus, start: Callable[[Shard], Floats]) -> tuple[Any, ...]:
    """Keep where the mixtures of each shard start as the shards are kept."""
    if corpus.store is None:
        return tuple(map(start, corpus.shards))
    keep = corpus.store.keeper()
    states = (keep(shard, start(loaded(shard))) for shard in corpus.shards)
    found: tuple[Any, ...] = corpus.store.own(tuple(states))
    return found


def _even(shard: Shard, allowed: Bools, alpha: Floats) -> Floats:
    totals = np.concatenate([[0.0], np.cumsum(shard.counts, dtype=float)])
    tokens_each = np.diff(totals[shard.indptr]) / allowed.sum(1)
    theta: Floats = np.where(allowed, alpha + tokens_each[:, None], 0.0)
    return theta.astype(shard.counts.dtype)


def one_theta(corpus: Corpus) -> tuple[Floats, ...]:
    """Start all mixtures at θ = 1 as the original does, (d, K) of each shard; zero where barred."""
    return _kept(corpus, lambda each: corpus.allowed[each.group].astype(each.counts.dtype))


def likelihoods(
    engine: Engine, pieces: Sequence[Floats], residuals: Floats, topics: Floats | None = None,
    own: OwnWords | None = None,
) -> tuple[Floats, Floats, float]:  # fmt: skip
    """Make the E-step's table of word types.

    Parameters
    ----------
    engine : Engine
        Spreads the pieces.
    pieces : sequence of arrays
        Of word types: their dots v·t (n, K), or their vectors (n, N) if there are topics.
    residuals : array, (K,)
        r.
    topics : array, (K, N), optional
        T.
    own : OwnWords, optional
        Tokens of the word types that give the topics words of their own.

    Returns
    -------
    table : array, (U, K)
        exp(v·t + r), or P~(w|k) / u_w, each row divided by its maximum; in the precision of the
        pieces.
    peak : array, (U,)
        Logarithms of these maxima.
    price : float
        What words of their own take from the bound: Σ_k m_k KL(P(·|k) ‖ P~(·|k)), negative.
    """
    dtype = pieces[0].dtype if pieces else np.dtype(np.float32)
    table = np.empty((sum(map(len, pieces)), len(residuals)), dtype)
    peak, start, lifted = np.empty(len(table)), 0, np.zeros(len(residuals))
    spread = None if own is None else own.spread
    owns = [None] * len(pieces) if own is None else own.cut([len(piece) for piece in pieces])
    block = partial(_likelihood, residuals, topics, spread)
    for part, tops, more in near(engine).map(block, zip(pieces, owns, strict=True)):
        rows = slice(start, start + len(part))
        table[rows], peak[rows], start = part, tops, rows.stop
        lifted = lifted + more
    return table, peak, 0.0 if own is None else own.price(lifted)


def _likelihood(
    residuals: Floats, topics: Floats | None, spread: Floats | None, pair: Piece
) -> tuple[Floats, Floats, Floats | float]:
    piece, own = pair
    exponent: Floats = piece if own is None else piece.astype(float)
    if topics is None:
        exponent = exponent + residuals
    else:  # in double precision, so that no document's mixture depends on the others
        exponent = equations.logits(piece.astype(float), topics.astype(float), residuals)
    lifted: Floats | float = 0.0
    if own is not None:
        a, x = own.lift(exponent)
        lifted, exponent = (a * x).sum(axis=0), exponent + x - own.pay(spread)
    peak = exponent.max(axis=1)
    exponent -= peak[:, None]
    np.maximum(np.exp(exponent, out=exponent), LEAST_WEIGHT[piece.dtype.char], out=exponent)
    return exponent.astype(piece.dtype, copy=False), peak, lifted


def word_dots(lexicon: Lexicon, topics: Floats) -> list[Floats]:
    """Give the dots v·t (n, K) of word types, block by block, with the bits of `evaluate`'s."""
    # laid out as the product wants it: T.T of this is contiguous
    T = np.ascontiguousarray(topics.T).T
    return [
        equations.logits(lexicon.vectors[rows], T).take(own, axis=0)
        for rows, own in lexicon.blocks()
    ]


class Sums(NamedTuple):
    """What documents say in one E-step.

    Attributes
    ----------
    words : array, (U, K), float32
        C_wk = Σ_d n_dw π_dwk, tokens of the word types in the topics; or, if asked for instead,
        their `moment` Cᵀ V, (K, N).
    mass : array, (K,)
        Expected number of tokens of each topic.
    log_phi : array, (K,)
        Σ_d E[log φ_dk] over the documents that may use topic k, if it was asked for.
    bound : float
        As of `mix`.
    n_passes : int
        Passes over documents.
    """

    words: Floats
    mass: Floats
    log_phi: Floats
    bound: float
    n_passes: int


@dataclass(frozen=True, eq=False)
class Link:
    """What an E-step's table is made of, where there are the vectors: little to send.

    Parameters
    ----------
    topics, residuals : arrays, (K, N), (K,)
        T and r.
    lexicon : Lexicon, optional
        The words; not sent along.
    """

    topics: Floats
    residuals: Floats
    lexicon: Lexicon | None

    def table(self, lexicon: Lexicon) -> Floats:
        """Make the table, to the bits of that of `likelihoods`."""
        return likelihoods(InPlace(), word_dots(lexicon, self.topics), self.residuals)[0]


@dataclass(frozen=True, eq=False)
class ShardRound:
    """An E-step over the shards of a corpus, as `topicvec.engine.advance` wants it.

    Parameters
    ----------
    compiled : bool
        Whether to use the compiled loops.
    table : array, (U, K)
        As of `e_step`; without rows on its way to others, who make it of the link.
    n_types : int
        U.
    alpha : array, (n_groups, K)
        As of `e_step`.
    tol, max_passes : float, int
        As of `e_step`.
    log_phi : bool
        Whether to give Σ_d E[log φ_dk].
    single : bool
        Whether all shards are one group.
    link : Link, optional
        If there is one, moments are given instead of words.
    keep : callable, optional
        Puts the mixtures of a shard into a file.
    """

    compiled: bool
    table: Floats
    n_types: int
    alpha: Floats
    tol: float
    max_passes: int
    log_phi: bool
    single: bool
    link: Link | None = None
    keep: Callable[[Any, Floats], Any] | None = None

    @property
    def stays(self) -> bool:
        """Whether mixtures may stay where they were found: those in no files."""
        return self.keep is None

    @property
    def function(self) -> Callable[[Piece], Piece]:
        """From a shard and its mixtures to the next ones and what it says."""
        return partial(
            _sum, self.compiled, self.table, self.alpha, self.tol, self.max_passes, self.log_phi,
            self.keep,
        )  # fmt: skip

    def light(self) -> "ShardRound":
        """Leave out what others can make of the words that they have."""
        if self.link is None:
            return self
        return replace(self, table=self.table[:0], link=replace(self.link, lexicon=None))

    def ready(self, lexicon: Lexicon | None) -> "ShardRound":
        """Make it of the words, if it was left out; arrays that were sent may be read-only."""
        table, link = self.table, self.link
        if link is not None:
            if lexicon is None:
                raise EngineError("a round was sent without the words that its table is made of")
            table, link = link.table(lexicon), replace(link, lexicon=lexicon)
        return replace(self, table=_writable(table), alpha=_writable(self.alpha), link=link)

    @property
    def nbytes(self) -> int:
        """How much is sent, but for small things."""
        light = self.light()
        topics = 0 if light.link is None else light.link.topics.nbytes
        return light.table.nbytes + light.alpha.nbytes + topics

    def add(self, total: list[Any] | None, part: Piece) -> list[Any]:
        """Add what a shard says to the sums of its group, and see which words it has."""
        if total is None:
            total = self._nothing()
        types, words, *sums = part
        if self.compiled:
            from topicvec.model.kernels import add_rows

            add_rows(total[0], types, words)
        else:
            total[0][types] += words
        total[1][types] = True
        total[2:] = [mine + theirs for mine, theirs in zip(total[2:], sums, strict=True)]
        return total

    def _nothing(self) -> list[Any]:
        n_topics = self.alpha.shape[1]
        C = np.zeros((self.n_types, n_topics), self.table.dtype)
        return [C, np.zeros(self.n_types, bool), np.zeros(n_topics), np.zeros(n_topics), 0.0, 0]

    def close(self, total: list[Any] | None, engine: Engine) -> Sums:
        """Make the moment of a group's words, if it is wanted."""
        C, seen, *sums = total or self._nothing()
        if self.link is None or self.link.lexicon is None:
            return Sums(C, *sums)
        # In single precision where it is sent.
        moment = words_moment(engine, self.link.lexicon, C, np.flatnonzero(seen))
        return Sums(moment if self.single else moment.astype(np.float32), *sums)

    def join(self, one: Sums, other: Sums) -> Sums:
        """Add up the sums of groups."""
        words = one.words
        words += other.words  # in place: it is large
        return Sums(
            words,
            one.mass + other.mass,
            one.log_phi + other.log_phi,
            one.bound + other.bound,
            one.n_passes + other.n_passes,
        )


def words_moment(engine: Engine, lexicon: Lexicon, C: Floats, types: Ints) -> Floats:
    """Give Cᵀ V (K, N) over some word types: the third unavoidable matrix product.

    The vectors are taken anew each time, block by block: kept side by side, those of all classes
    would fill the memory.
    """
    blocks = [rows if len(types) == len(C) else types[rows] for rows in cut_words(len(types))]
    pieces = ((Part(lexicon.vectors, lexicon.rows[each]), C[each]) for each in blocks)
    moment = np.zeros((C.shape[1], lexicon.vectors.shape[1]))
    for part in near(engine).map(_moment, pieces):
        moment += part
    return moment


def _moment(piece: tuple[Part, Floats]) -> Floats:
    return equations.moment(piece[0].take(), piece[1])


def sum_shards(
    engine: Engine, corpus: Corpus, table: Floats, alpha: Floats, start: Sequence[Floats],
    tol: float, max_passes: int, log_phi: bool = False, link: Link | None = None,
) -> tuple[Sequence[Floats], Sums]:  # fmt: skip
    """Find the mixtures of all documents and sum up what they say, shard by shard.

    Only sums leave a group of shards, and are added in the order of `topicvec.engine.advance`.
    Parameters are those of `mix`; ``log_phi`` asks for the sums that a prior is learned from, a
    ``link`` for moments instead of words.

    Returns
    -------
    theta, sums : sequence of arrays (d, K), Sums
        Mixtures, shard by shard, and what all documents say.
    """
    work = ShardRound(
        corpus.compiled, table, len(table), corpus.allowed * alpha, tol, max_passes, log_phi,
        len(corpus.groups) == 1, link, None if corpus.store is None else corpus.store.keeper(),
    )  # fmt: skip
    common = None if link is None else link.lexicon
    theta, sums = advance(engine, work, corpus.shards, start, corpus.groups, common)
    return (theta if corpus.store is None else corpus.store.own(theta)), sums


def _sum(
    compiled: bool, table: Floats, alpha: Floats, tol: float, max_passes: int, log_phi: bool,
    keep: Callable[[Any, Floats], Any] | None, piece: Piece,
) -> Piece:  # fmt: skip
    shard, start = map(loaded, piece)
    theta, words, mass, *rest = fill_shard(compiled, table, alpha, tol, max_passes, (shard, start))
    logs: Floats = np.zeros(len(mass))
    if log_phi:
        logs = np.where(theta > 0, equations.expected_log_phi(theta.astype(float)), 0.0).sum(0)
    after = theta if keep is None else keep(piece[0], theta)
    return after, (shard.types, words, mass, logs, *rest)


def mix(
    engine: Engine, corpus: Corpus, table: Floats, alpha: Floats, start: Sequence[Floats],
    tol: float, max_passes: int,
) -> Inferred:  # fmt: skip
    """Find the mixtures of all documents, shard by shard.

    Parameters
    ----------
    engine : Engine
        Spreads the shards.
    corpus : Corpus
        The documents.
    table : array, (U, K)
        exp(v·t + r), each row divided by its maximum.
    alpha : array, (K,)
        Prior of the mixtures.
    start : sequence of arrays, (d, K)
        Dirichlet parameters to start from, shard by shard.
    tol, max_passes : float, int
        When a document is done, see `e_step`.

    Returns
    -------
    Inferred
        Its bound is without the unigram probabilities and the maxima of the table's rows.
    """
    found, sums = sum_shards(engine, corpus, table, alpha, start, tol, max_passes)
    theta = np.concatenate([np.zeros((0, len(alpha)), corpus.dtype), *found])
    return Inferred(corpus, theta, sums.mass, sums.bound, sums.n_passes, table, sums.words)


def sum_documents(engine: Engine, found: Inferred) -> Floats:
    """Sum up the topics' proportions in the documents that have each word type, (U, K)."""
    corpus, shares = found.corpus, found.proportions.astype(np.float32)
    sums = np.zeros((len(corpus.types), shares.shape[1]), np.float32)
    held = zip(hold(engine, corpus.shards), corpus.cut(shares), strict=True)
    for each, part in zip(corpus.shards, engine.map(having, held), strict=True):
        sums[each.types] += part
    return sums


def having(piece: tuple[Shard, Floats]) -> Floats:
    """Sum up the proportions (d, K) of a shard over the documents that have each word type."""
    shard, shares = piece
    cells = np.ones(len(shard.words), np.float32), shard.places, shard.indptr
    return np.asarray(csr_array(cells, (len(shares), len(shard.types))).T @ shares)


def _writable(array: Floats) -> Floats:
    """Copy an array that is read-only, for which the loops would be compiled anew: seconds."""
    return np.require(array, requirements="W")


def fill_shard(
    compiled: bool, table: Floats, alpha: Floats, tol: float, max_passes: int, piece: Piece
) -> Piece:
    """Find the mixtures of a shard, given where they start; see `e_step`."""
    shard, start = piece[0], _writable(piece[1])
    theta, mass = np.empty_like(start), np.zeros(start.shape[1])
    C = np.zeros((len(shard.types), start.shape[1]), table.dtype)
    loop = e_step
    if compiled:  # numba takes a while to import
        from topicvec.model.kernels import e_step as loop
    bound, n_passes = loop(
        shard.indptr, shard.words, shard.counts, table, alpha, shard.group, start, tol, max_passes,
        LEAST_WEIGHT[table.dtype.char], shard.places, theta, C, mass,
    )  # fmt: skip
    return theta, C, mass, bound, n_passes

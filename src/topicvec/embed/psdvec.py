"""The estimator of stage 1: word vectors from co-occurrence counts."""

import json
import logging
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import NDArray

from topicvec.checks import check_whole
from topicvec.embed.association import Margins, associate, log_conditional, measure_margins
from topicvec.embed.cooccurrence import Cooccurrence, Direction, Progress, Weighting, WindowSettings
from topicvec.embed.counting import count_corpus
from topicvec.embed.encode import Tokenize
from topicvec.embed.factorize import Factorization, factorize
from topicvec.embed.regress import regress
from topicvec.embed.vectors import WordVectors
from topicvec.engine import Engine, resolve_engine
from topicvec.errors import DataError, VocabularyMismatch
from topicvec.estimator import Estimator, not_fitted
from topicvec.stored import Kind, Stored, each, number, one_of, pair, whole
from topicvec.text import PreparedCorpus, Tokenizer
from topicvec.text.tokenizer import describe_tokenizer
from topicvec.version import __version__

__all__ = ["PSDVec", "damp", "settings_of"]

log = logging.getLogger(__name__)

_LEAST_CORE, _MOST_CORE = 3_000, 20_000

# What vectors say of how they were made, and may say.
_SAID: dict[str, Kind] = {
    "smoothing": number(0, 1), "unseen_weight": number(0), "frequency_power": number(-10, 10),
    "context_power": number(-10, 10), "subsample": number(0) | one_of(None),
    "n_iter": whole(1, 1000), "ridge": number(0) | each(pair(whole(0), number(0))),
}  # fmt: skip
_NEAR: dict[str, Kind] = {
    "window": whole(1, 40), "direction": one_of(*get_args(Direction)),
    "weighting": one_of(*get_args(Weighting)), "min_tokens": whole(1),
}  # fmt: skip

Ridge = float | Sequence[tuple[int, float]]


class PSDVec(Estimator):
    """Word vectors whose inner products are the log ratios of co-occurrence.

    The most frequent words get their vectors from a weighted low-rank approximation of their
    log ratios, every other word from a regression on those. Everything is deterministic: the
    same counts give the same vectors for any number of workers.

    Parameters
    ----------
    n_dims : int
        Number of dimensions.
    n_core : int, optional
        How many of the most frequent words are solved together. By default 20,000, or three
        eighths of the words if that is less, but not fewer than 3,000.
    n_words : int
        How many words there are in all.
    min_count : int
        Rarer words are left out.
    window : int
        How many tokens to look at on a side.
    direction : {"left", "right", "both"}
        On which side.
    weighting : {"flat", "harmonic", "linear"}
        What a pair at distance d counts: 1, 1/d, or (window + 1 − d)/window.
    smoothing : float
        κ: share of the conditional probability that is taken from the unigrams.
    unseen_weight : float
        Weight of pairs that were never seen; 0 in the paper, and with 1 all pairs weigh the
        same and ``n_iter=1`` is exact.
    frequency_power : float
        Errors also count by this power of both words' frequencies, squared.
    context_power : float
        Unigram probabilities are raised to this power.
    subsample : float, optional
        Counts of words more frequent than this are thinned out.
    n_iter : int
        Iterations of the weighted approximation.
    eigenvalue_power : float
        Dimensions are scaled to this power of their eigenvalues; 0.5 in the papers, see `damp`.
    ridge : float or sequence of (int, float)
        Ridge of the regressions; as a sequence, up to which rank each holds.
    tokenizer : callable, optional
        From a text to its tokens; ``Tokenizer()`` if not given.
    n_jobs : int, distributed.Client or Engine, optional
        Number of workers; ``None`` or -1 means one for each core. With a Dask client texts are
        cut and counted, products of the core's matrix made and other words solved by its workers;
        the vectors are the same to the bit.
    memory_budget : int
        Bytes for counting, and for a dense matrix of the core words.
    work_folder : path, optional
        Commit the progress of counting there, so that a run that was stopped can go on; the
        documents are then read twice.
    random_state : int
        Start of the eigensolver; changes digits beyond its tolerance only.
    progress : callable, optional
        Called as ``progress(stage, n_done, n_total)``; the total may be ``None``.

    Attributes
    ----------
    vectors_ : WordVectors
    eigenvalues_ : ndarray of float64, shape (n_dims,)
    residual_ : float
        Root of the weighted mean square error of the core words' log ratios.
    residual_norms_ : ndarray of float64, shape (n_dims,)
        Accuracy of the eigenpairs.
    counts_ : Cooccurrence
        What the vectors were made from.

    Notes
    -----
    The paper's settings are ``PSDVec(n_dims=500, n_core=25000, n_words=180000, window=3,
    direction="left", weighting="flat", smoothing=0.02, unseen_weight=0, frequency_power=0,
    n_iter=4, eigenvalue_power=0.5)``. The defaults gave better word similarities on the same
    text, see ``docs/explanation/psdvec.md``.

    Examples
    --------
    >>> texts = ["the cat sat on the mat", "the dog sat on the log"] * 3
    >>> model = PSDVec(n_dims=2, min_count=1, window=2).fit(texts)
    >>> model.vectors_
    WordVectors(7 words × 2 dims)
    """

    def __init__(
        self,
        n_dims: int = 400,
        *,
        n_core: int | None = None,
        n_words: int = 80_000,
        min_count: int = 5,
        window: int = 10,
        direction: Direction = "both",
        weighting: Weighting = "harmonic",
        smoothing: float = 0.2,
        unseen_weight: float = 1.0,
        frequency_power: float = 0.2,
        context_power: float = 1.0,
        subsample: float | None = None,
        n_iter: int = 1,
        eigenvalue_power: float = 0.25,
        ridge: Ridge = 2.0,
        tokenizer: Tokenize | None = None,
        n_jobs: Engine | int | None = None,
        memory_budget: int = 1 << 32,
        work_folder: str | Path | None = None,
        random_state: int = 0,
        progress: Progress | None = None,
    ) -> None:
        self.n_dims, self.n_core, self.n_words, self.min_count = n_dims, n_core, n_words, min_count
        self.window, self.direction, self.weighting = window, direction, weighting
        self.smoothing, self.unseen_weight = smoothing, unseen_weight
        self.frequency_power, self.context_power = frequency_power, context_power
        self.subsample, self.n_iter, self.eigenvalue_power = subsample, n_iter, eigenvalue_power
        self.ridge, self.tokenizer, self.n_jobs = ridge, tokenizer, n_jobs
        self.memory_budget, self.work_folder = memory_budget, work_folder
        self.random_state, self.progress = random_state, progress

    def fit(self, X: Cooccurrence | Iterable[Any] | PathLike[str], y: object = None) -> Self:  # noqa: ARG002
        """Learn vectors from counts, or from texts, token lists or documents.

        Parameters
        ----------
        X : Cooccurrence, iterable or path
            An iterable is read once. Counts bring their own window settings. A path is the folder
            of a prepared corpus, which an iterable may be too: its shards are counted as they are.
        y : object
            Ignored.

        Returns
        -------
        PSDVec
        """
        self._check()
        counts = X if isinstance(X, Cooccurrence) else self._count(X, self.n_words)
        counts = counts.top(self.n_words)
        _log_coverage(counts)
        n_core = _clip("n_core", self._n_core(counts.n_words), counts.n_words, "words")
        margins = self._margins(counts, n_core)
        core = self._factorize(counts, margins, n_core)
        others = np.arange(n_core, counts.n_words)
        rest = regress(
            counts, margins, np.arange(n_core), core.vectors, others, _ridges(self.ridge, others),
            resolve_engine(self.n_jobs), progress=self.progress,
        )  # fmt: skip
        self.counts_, self.eigenvalues_ = counts, core.eigenvalues
        self.residual_, self.residual_norms_ = core.residual, core.residual_norms
        metadata = self._describe(counts, core, n_core)
        if not isinstance(X, Cooccurrence):  # counts that were given do not say these
            tokenizer = Tokenizer() if self.tokenizer is None else self.tokenizer
            metadata |= {"min_count": str(self.min_count)}
            metadata |= {"tokenizer": describe_tokenizer(tokenizer)}
        matrix = np.concatenate([core.vectors, rest])
        learned = WordVectors(counts.words, matrix, counts.unigram_counts, metadata)
        self.vectors_ = damp(learned, self.eigenvalue_power)
        return self

    def add_words(
        self,
        vectors: WordVectors,
        counts: Cooccurrence | Iterable[Any] | PathLike[str],
        words: Iterable[str] | None = None,
        *,
        max_new: int | None = None,
    ) -> WordVectors:
        """Add words to vectors, or estimate some again, from any corpus's counts.

        Parameters
        ----------
        vectors : WordVectors
            Ours or any others; rows of words that are not asked for stay as they are, to the
            bit.
        counts : Cooccurrence or iterable
            Also of another corpus; an iterable of texts, token lists or documents is counted.
            Words that the vectors do not know are no evidence.
        words : iterable of str, optional
            What to solve; those with a vector get a new one. By default all words of the
            counts that have none. They are solved against the ``n_core`` most frequent of
            the other words that have a vector.
        max_new : int, optional
            Without ``words``, take at most so many, the most frequent.

        Returns
        -------
        WordVectors
            The old words in their order, then the new ones by frequency.

        Examples
        --------
        >>> texts = ["the cat sat on the mat", "the dog sat on the log"] * 3
        >>> model = PSDVec(n_dims=2, min_count=1, window=2).fit(texts)
        >>> more = count_corpus(["the cow sat on the mat"], WindowSettings(2))
        >>> model.add_words(model.vectors_, more).words[-1]
        'cow'
        """
        self._check()
        if not isinstance(counts, Cooccurrence):
            counts = self._count(counts, n_words=None)
        plain = damp(vectors, 0.5) if "eigenvalues" in vectors.metadata else vectors
        chosen = _choose_words(vectors, counts, words)[: max_new if words is None else None]
        asked = set(chosen.tolist())
        known = [i for i, w in enumerate(counts.words) if w in vectors.ids and i not in asked]
        n_core = _MOST_CORE if self.n_core is None else self.n_core
        core = np.array(known[:n_core], np.int64)
        if not core.size:
            raise VocabularyMismatch(
                "the counts share no word with the vectors: count text in the same language, "
                "cut into words in the same way"
            )
        rows = np.array([vectors.ids[counts.words[i]] for i in core])
        margins = self._margins(counts, min(n_core, counts.n_words))
        solved = regress(
            counts, margins, core, plain.matrix[rows], chosen, _ridges(self.ridge, chosen),
            resolve_engine(self.n_jobs), progress=self.progress,
        )  # fmt: skip
        solved = (solved * _column_scale(vectors)).astype(np.float32)
        return _join_words(vectors, counts, core, rows, chosen, solved)

    def bigram_residuals(self, context: Sequence[str], words: Sequence[str]) -> NDArray[np.float64]:
        """Give what the vectors leave open of how words follow their context.

        a_lw = log P~(w | l) − log P(w) − v_l·v_w, with P~(w | l) = (1 − κ) x_lw / x_l + κ u_w of
        the counts and P(w) of ``vectors_``: with it the link function of the papers is exact for
        one word of context. A word without neighbours follows, and is followed, as by chance.

        Parameters
        ----------
        context, words : sequences of str
            c and n words of ``vectors_``.

        Returns
        -------
        array, (c, n)

        Examples
        --------
        >>> model = PSDVec(n_dims=2, min_count=1, window=2).fit(["the cat sat on the mat"] * 3)
        >>> model.bigram_residuals(["the"], ["cat", "mat"]).shape
        (1, 2)
        """
        if not hasattr(self, "vectors_"):
            raise not_fitted(self, "vectors")
        vectors, counts = self.vectors_, self.counts_
        rows, columns = vectors.find(context), vectors.find(words)
        margins = self._margins(counts, min(self._n_core(counts.n_words), counts.n_words))
        lonely = (margins.row_totals[rows] <= 0)[:, None] | (margins.unigram[columns] <= 0)
        with np.errstate(divide="ignore"):  # of lonely words, of which nothing is known
            log_ratio = log_conditional(counts, margins, rows, columns)
        log_ratio = np.where(lonely, 0.0, log_ratio - np.log(vectors.unigram[columns]))
        dots = vectors.matrix[rows].astype(float) @ vectors.matrix[columns].T.astype(float)
        return np.asarray(log_ratio - dots)

    def _check(self) -> None:
        for name in ("n_dims", "n_core", "n_words", "n_iter", "min_count"):
            if name != "n_core" or self.n_core is not None:
                check_whole(name, getattr(self, name), 1)

    def _n_core(self, n_words: int) -> int:
        if self.n_core is not None:
            return self.n_core
        return min(_MOST_CORE, max(_LEAST_CORE, 3 * n_words // 8), n_words)

    def _count(self, documents: Iterable[Any] | PathLike[str], n_words: int | None) -> Cooccurrence:
        settings = WindowSettings(self.window, self.direction, self.weighting)
        if isinstance(documents, PathLike):
            documents = PreparedCorpus.open(documents)
        return count_corpus(
            documents, settings, min_count=self.min_count, max_words=n_words,
            tokenizer=self.tokenizer, n_jobs=self.n_jobs, memory_budget=self.memory_budget,
            folder=self.work_folder, progress=self.progress,
        )  # fmt: skip

    def _margins(self, counts: Cooccurrence, n_core: int) -> Margins:
        return measure_margins(
            counts, n_core=n_core, smoothing=self.smoothing, context_power=self.context_power,
            subsample=self.subsample, unseen_weight=self.unseen_weight,
            frequency_power=self.frequency_power,
        )  # fmt: skip

    def _factorize(self, counts: Cooccurrence, margins: Margins, n_core: int) -> Factorization:
        engine = resolve_engine(self.n_jobs)
        association = associate(counts, margins, n_core, engine)
        n_dims = _clip("n_dims", self.n_dims, n_core, "core words")
        core = factorize(
            association, n_dims, engine, n_iter=self.n_iter, memory_budget=self.memory_budget,
            rng=np.random.default_rng(self.random_state), progress=self.progress,
        )  # fmt: skip
        if core.eigenvalues.size < self.n_dims:
            log.warning(
                "the vectors have %d dimensions, not %d: no more eigenvalues are positive; "
                "more text gives more", core.eigenvalues.size, self.n_dims,
            )  # fmt: skip
        return core

    def _describe(self, counts: Cooccurrence, core: Factorization, n_core: int) -> dict[str, str]:
        """Say how the vectors were made, for their metadata."""
        settings = {name: getattr(self, name) for name in _SAID}
        return {
            "method": "PSDVec",
            "topicvec": __version__,
            "n_core": str(n_core),
            "n_words": str(counts.n_words),
            "n_documents": str(counts.n_documents),
            "n_tokens": str(counts.n_tokens),
            "window": json.dumps(vars(counts.settings), default=_plain),
            "settings": json.dumps(settings, default=_plain),
            "eigenvalues": json.dumps([float(f"{value:.6g}") for value in core.eigenvalues]),
            "eigenvalue_power": "0.5",
        }


def _clip(name: str, wanted: int, there: int, what: str) -> int:
    if wanted > there:
        log.info("%s is %d, but there are only %d %s: using these", name, wanted, there, what)
    return min(wanted, there)


def _plain(value: Any) -> Any:
    return value.tolist()  # numbers and arrays of NumPy are settings too


def _log_coverage(counts: Cooccurrence) -> None:
    n_outside = counts.n_tokens - int(counts.unigram_counts.sum())
    share = 100 * n_outside / max(counts.n_tokens, 1)
    log.info("%.1f%% of tokens are outside the vocabulary", share)


def _ridges(ridge: Ridge, words: NDArray[np.int64]) -> NDArray[np.float64]:
    if isinstance(ridge, int | float | np.integer | np.floating):
        return np.full(words.size, float(ridge))
    ranks = np.array([rank for rank, _ in ridge])
    values = np.array([value for _, value in ridge], np.float64)
    if not ranks.size or np.any(np.diff(ranks) <= 0):
        raise DataError(f"ridge must be a number, or (rank, ridge) by rising rank; found {ridge}")
    return np.asarray(values[np.minimum(np.searchsorted(ranks, words, "right"), ranks.size - 1)])


def settings_of(vectors: WordVectors) -> dict[str, Any]:
    """Give the settings that vectors were made with, to add words to them.

    Only those that tell how words are counted and solved are read, and they must be what they can
    be: vectors come from files, and files from anywhere.

    Parameters
    ----------
    vectors : WordVectors

    Returns
    -------
    dict
        Parameters of `PSDVec`; none for vectors of another method.

    Examples
    --------
    >>> model = PSDVec(n_dims=2, min_count=1, window=2).fit(["the cat sat on the mat"] * 3)
    >>> settings_of(model.vectors_)["window"]
    2
    >>> settings_of(model.vectors_.with_metadata(settings='{"work_folder": "/tmp"}'))
    Traceback (most recent call last):
    topicvec.errors.FormatError: these vectors: settings: expected smoothing, ...
    """
    if vectors.metadata.get("method") != "PSDVec":
        return {}
    said = Stored(Path("these vectors"), vectors.metadata, {}, "give vectors that PSDVec made")
    settings = said.card("settings", _SAID)
    if not settings.keys() <= _SAID.keys():
        said.refuse("settings", ", ".join(_SAID), ", ".join(sorted(settings.keys() - _SAID.keys())))
    near = said.card("window", _NEAR, "window", "direction", "weighting")
    return settings | {name: near[name] for name in ("window", "direction", "weighting")}


def damp(vectors: WordVectors, eigenvalue_power: float = 0.25) -> WordVectors:
    """Scale dimensions to another power of their eigenvalues.

    At 0.5 inner products are the log ratios themselves, as in the papers. At 0.25 frequent
    dimensions count less, and cosines agree better with human judgements. All is multiplied by
    one number that keeps the sum of squares, so norms stay comparable.

    Parameters
    ----------
    vectors : WordVectors
        Made by `PSDVec`.
    eigenvalue_power : float

    Returns
    -------
    WordVectors

    Examples
    --------
    >>> model = PSDVec(n_dims=2, min_count=1, window=2).fit(["the cat sat on the mat"] * 3)
    >>> damp(model.vectors_, 0.5).metadata["eigenvalue_power"]
    '0.5'
    """
    if "eigenvalues" not in vectors.metadata:
        raise DataError("these vectors do not name their eigenvalues: only PSDVec's can be damped")
    scale = _scale(vectors, eigenvalue_power) / _column_scale(vectors)
    metadata = {**vectors.metadata, "eigenvalue_power": str(eigenvalue_power)}
    matrix = (vectors.matrix * scale).astype(np.float32)
    return WordVectors(vectors.words, matrix, vectors.unigram, metadata)


def _column_scale(vectors: WordVectors) -> NDArray[np.float64]:
    """What each dimension has been multiplied by since power 0.5."""
    if "eigenvalues" not in vectors.metadata:
        return np.ones(vectors.n_dims)
    return _scale(vectors, float(vectors.metadata["eigenvalue_power"]))


def _scale(vectors: WordVectors, power: float) -> NDArray[np.float64]:
    eigenvalues = np.array(json.loads(vectors.metadata["eigenvalues"]))
    same_size = np.sqrt(eigenvalues.sum() / (eigenvalues ** (2 * power)).sum())
    return np.asarray(eigenvalues ** (power - 0.5) * same_size)


def _choose_words(
    vectors: WordVectors, counts: Cooccurrence, words: Iterable[str] | None
) -> NDArray[np.int64]:
    """Ids, in the counts, of the words to solve: those named, or all that have no vector."""
    if words is None:
        seen = zip(counts.words, counts.unigram_counts.tolist(), strict=True)
        fresh = [i for i, (word, n) in enumerate(seen) if n and word not in vectors.ids]
        return np.array(fresh, np.int64)
    ids = {word: i for i, word in enumerate(counts.words)}
    wanted = list(dict.fromkeys([words] if isinstance(words, str) else words))
    missing = [word for word in wanted if word not in ids or not counts.unigram_counts[ids[word]]]
    if missing:
        raise VocabularyMismatch(
            f"{len(missing)} of the words to solve are not in the counts, the first of them "
            f"{missing[0]!r}: count a corpus that has them"
        )
    return np.array(sorted(ids[word] for word in wanted), np.int64)


def _join_words(
    vectors: WordVectors,
    counts: Cooccurrence,
    core: NDArray[np.int64],
    rows: NDArray[np.int64],
    chosen: NDArray[np.int64],
    solved: NDArray[np.float32],
) -> WordVectors:
    """Put solved rows into the vectors: new words last, all other rows as they were.

    The metadata say how many words were added in all.
    """
    matrix = vectors.matrix.copy()
    fresh = []
    for place, i in enumerate(chosen.tolist()):
        row = vectors.ids.get(counts.words[i])
        if row is None:
            fresh.append(place)
        else:
            matrix[row] = solved[place]
    # Probabilities of new words on the scale of the old: by what known words have in both.
    scale = vectors.unigram[rows].sum() / counts.unigram_counts[core].sum()
    unigram = np.concatenate([vectors.unigram, counts.unigram_counts[chosen[fresh]] * scale])
    words = (*vectors.words, *(counts.words[i] for i in chosen[fresh]))
    n_added = int(vectors.metadata.get("added_words", "0")) + len(fresh)
    metadata = {**vectors.metadata, "added_words": str(n_added)}
    return WordVectors(words, np.concatenate([matrix, solved[fresh]]), unigram, metadata)

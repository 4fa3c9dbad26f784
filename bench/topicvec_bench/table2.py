"""The paper's table 2: how well documents are classified by the features of each method."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from os import PathLike
from typing import Any, get_args

from topicvec.embed.vectors import WordVectors
from topicvec.engine import LocalEngine
from topicvec.errors import DataError, MissingExtra
from topicvec_bench.classify import Classification, Protocol, classify
from topicvec_bench.corpora import Split, load_split, parse_corpus
from topicvec_bench.movers import Neighbours
from topicvec_bench.registry import MIN_COUNT, find_method, make
from topicvec_bench.results import Results, Row

__all__ = ["run_method", "run_table2"]

logger = logging.getLogger(__name__)

_HASH = 12  # characters that tell vectors apart


def run_table2(
    corpora: Sequence[str],
    methods: Sequence[str],
    vectors: WordVectors,
    *,
    n_seeds: int = 1,
    min_count: int | None = None,
    output: str | PathLike[str] | None = None,
    changes: Mapping[str, Any] | None = None,
    n_jobs: int | None = 1,
    advance: Callable[[str, int, int], object] | None = None,
) -> Iterator[Row]:
    """Run methods on corpora, a row at a time; rows that a file has already are not run again.

    Parameters
    ----------
    corpora : sequence of str
        Names of `topicvec_bench.corpora.CORPORA`; with "-heldout" behind, settings are tried
        without a look at the test documents: on the last training documents, or with a number
        behind it ("-heldout1") on a random part of them, see `topicvec_bench.corpora.hold_out`.
    methods : sequence of str
        Names of `topicvec_bench.registry.METHODS`.
    vectors : WordVectors
        Their words are the ones that all methods know.
    n_seeds : int
        Runs of each method that draws random numbers, with seeds from 0.
    min_count : int, optional
        All methods also know the words that the training documents have so often; vectors for
        those that have none are learned from the training documents. With 0 there are no such
        words; by default it is as chosen for the corpus, see
        `topicvec_bench.registry.MIN_COUNT`.
    output : path, optional
        File of results, written after each row; see `topicvec_bench.results.Results`. A row is
        run again if the vectors or the settings of the method are others.
    changes : mapping, optional
        Parameters of the methods in place of their settings for the corpus.
    n_jobs : int or None
        Processes for the classifiers; None for one a core.
    advance : callable, optional
        Told before each row: what runs, how many rows are done, and of how many.

    Yields
    ------
    Row
        One for each corpus, method and seed.

    Examples
    --------
    >>> [row.method for row in run_table2(["reuters"], ["BOW"], vectors)]  # doctest: +SKIP
    ['BOW']
    """
    plan = list(_plan(corpora, methods, vectors, n_seeds, min_count, changes or {}, n_jobs))
    results = Results.read(output)
    load = cache(lambda corpus: load_split(corpus, vectors, _min_count(corpus, min_count)))
    for done, wanted in enumerate(plan):
        if advance is not None:
            advance(f"{wanted.corpus} {wanted.method}", done, len(plan))
        row = results.find(wanted)
        if row is None:
            row = run_method(wanted, *load(wanted.corpus), n_jobs=n_jobs)
            results = results.with_row(row)
        yield row


def run_method(wanted: Row, split: Split, vectors: WordVectors, *, n_jobs: int | None = 1) -> Row:
    """Learn features on the training documents and score them on the test documents.

    Parameters
    ----------
    wanted : Row
        The corpus, method, seed and settings.
    split : tuple of LabelledTokens
        Training and test documents.
    vectors : WordVectors
        For methods that use word vectors.
    n_jobs : int or None
        Processes for the classifiers; None for one a core.

    Returns
    -------
    Row
        With scores, or with the reason why it was skipped.

    Examples
    --------
    >>> import numpy as np
    >>> from topicvec_bench.corpora import LabelledTokens
    >>> vectors = WordVectors(["cat", "dog", "car", "bus"], np.eye(4), [1, 1, 1, 1])
    >>> documents = [["cat"], ["car"], ["dog", "cat"], ["bus", "car"]]
    >>> tokens = LabelledTokens(documents, np.array(["a", "b", "a", "b"]))
    >>> run_method(Row("mine", "BOW", 0, ""), (tokens, tokens), vectors).scores["strong"].f1
    100.0
    """
    train, test = split
    n_train, n_test = len(train.documents), len(test.documents)
    start = time.perf_counter()
    try:
        model = make(wanted.method, vectors=vectors, random_state=wanted.seed, **wanted.settings)
        if isinstance(model, Neighbours):  # they vote for classes themselves
            return _run_neighbours(replace(wanted, n_train=n_train, n_test=n_test), model, split)
        own = model.fit_transform(train.documents, train.labels)
    except MissingExtra as error:
        logger.warning("%s skipped: %s", wanted.method, error)
        return replace(wanted, skipped=str(error))
    other = model.transform(test.documents)
    seconds = time.perf_counter() - start
    scores = {
        protocol: classify(own, train.labels, other, test.labels, protocol, n_jobs=n_jobs)
        for protocol in get_args(Protocol)
    }
    return replace(
        wanted,
        n_train=n_train,
        n_test=n_test,
        seconds=seconds,
        scores=scores,
    )


def _run_neighbours(wanted: Row, model: Neighbours, split: Split) -> Row:
    """Score a method that names classes itself; it has no features for a classifier."""
    train, test = split
    start = time.perf_counter()
    found = model.fit(train.documents, train.labels.tolist()).predict(test.documents)
    seconds = time.perf_counter() - start
    scores: dict[Protocol, Classification] = {
        "paper": Classification.of_predictions(test.labels, found, 0.0)
    }
    return replace(wanted, seconds=seconds, scores=scores)


def _plan(
    corpora: Sequence[str],
    methods: Sequence[str],
    vectors: WordVectors,
    n_seeds: int,
    min_count: int | None,
    changes: Mapping[str, Any],
    n_jobs: int | None,
) -> Iterator[Row]:
    """List the rows to run; a method without random numbers has one seed."""
    LocalEngine(n_jobs)  # refuses a number that makes no sense
    if n_seeds < 1:
        raise DataError(f"n_seeds must be at least 1; found {n_seeds}")
    if min_count is not None and min_count < 0:
        raise DataError(f"min_count must not be negative; found {min_count}")
    for corpus in corpora:
        name, _ = parse_corpus(corpus)
        least = _min_count(corpus, min_count)
        label = vectors.content_hash[:_HASH] + (f"+{least}" if least else "")
        for method in map(find_method, methods):
            for seed in range(n_seeds if method.is_random() else 1):
                yield Row(corpus, method.name, seed, label, _params(method.name, name, changes))


def _params(method: str, corpus: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Give all parameters of a method but those that every row has for itself."""
    own = make(method, corpus=corpus).get_params(deep=False)
    params = {name: own[name] for name in own if name not in ("vectors", "random_state")}
    unknown = set(changes) - set(params)
    if unknown:
        raise DataError(
            f"{method} has no setting {min(unknown)!r} to change; there are {', '.join(params)}"
        )
    return params | dict(changes)


def _min_count(corpus: str, wanted: int | None) -> int:
    return MIN_COUNT.get(parse_corpus(corpus)[0], 0) if wanted is None else wanted

"""The paper's table 2: how well documents are classified by the features of each method."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from os import PathLike
from typing import get_args

from topicvec.datasets import LabelledTexts, load_20newsgroups, load_reuters
from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError, MissingExtra
from topicvec.evaluate.baselines.registry import find_method, make
from topicvec.evaluate.baselines.settings import settings
from topicvec.evaluate.classify import Protocol, classify
from topicvec.evaluate.results import Results, Row
from topicvec.evaluate.tokens import LabelledTokens, known_tokens

__all__ = ["CORPORA", "Split", "run_method", "run_table2"]

logger = logging.getLogger(__name__)

CORPORA: Mapping[str, Callable[..., LabelledTexts]] = {
    "20news": load_20newsgroups,
    "reuters": load_reuters,
}
Split = tuple[LabelledTokens, LabelledTokens]

_HASH = 12  # characters that tell vectors apart


def run_table2(
    corpora: Sequence[str],
    methods: Sequence[str],
    vectors: WordVectors,
    *,
    n_seeds: int = 1,
    output: str | PathLike[str] | None = None,
) -> Iterator[Row]:
    """Run methods on corpora, a row at a time; rows that a file has already are not run again.

    Parameters
    ----------
    corpora : sequence of str
        Names of `CORPORA`.
    methods : sequence of str
        Names of `topicvec.evaluate.baselines.METHODS`.
    vectors : WordVectors
        Their words are the ones that all methods know.
    n_seeds : int
        Runs of each method that draws random numbers, with seeds from 0.
    output : path, optional
        File of results, written after each row; see `topicvec.evaluate.results.Results`. A row is
        run again if the vectors or the settings of the method are others.

    Yields
    ------
    Row
        One for each corpus, method and seed.

    Examples
    --------
    >>> [row.method for row in run_table2(["reuters"], ["BOW"], vectors)]  # doctest: +SKIP
    ['BOW']
    """
    plan = list(_plan(corpora, methods, vectors, n_seeds))
    results = Results.read(output)
    load = cache(lambda corpus: _load(corpus, vectors))
    for wanted in plan:
        row = results.find(wanted)
        if row is None:
            row = run_method(wanted, load(wanted.corpus), vectors)
            results = results.with_row(row)
        yield row


def run_method(wanted: Row, split: Split, vectors: WordVectors) -> Row:
    """Learn features on the training documents and score them on the test documents.

    Parameters
    ----------
    wanted : Row
        The corpus, method, seed and settings.
    split : tuple of LabelledTokens
        Training and test documents.
    vectors : WordVectors
        For methods that use word vectors.

    Returns
    -------
    Row
        With scores, or with the reason why it was skipped.

    Examples
    --------
    >>> import numpy as np
    >>> vectors = WordVectors(["cat", "dog", "car", "bus"], np.eye(4), [1, 1, 1, 1])
    >>> documents = [["cat"], ["car"], ["dog", "cat"], ["bus", "car"]]
    >>> tokens = LabelledTokens(documents, np.array(["a", "b", "a", "b"]))
    >>> run_method(Row("mine", "BOW", 0, ""), (tokens, tokens), vectors).scores["strong"].f1
    100.0
    """
    train, test = split
    start = time.perf_counter()
    try:
        model = make(wanted.method, vectors=vectors, random_state=wanted.seed, **wanted.settings)
        model.fit(train.documents, train.labels)  # type: ignore[arg-type]
    except MissingExtra as error:
        logger.warning("%s skipped: %s", wanted.method, error)
        return replace(wanted, skipped=str(error))
    own, other = model.transform(train.documents), model.transform(test.documents)
    seconds = time.perf_counter() - start
    scores = {
        protocol: classify(own, train.labels, other, test.labels, protocol)
        for protocol in get_args(Protocol)
    }
    return replace(
        wanted,
        n_train=len(train.documents),
        n_test=len(test.documents),
        seconds=seconds,
        scores=scores,
    )


def _plan(
    corpora: Sequence[str], methods: Sequence[str], vectors: WordVectors, n_seeds: int
) -> Iterator[Row]:
    """List the rows to run; a method without random numbers has one seed."""
    if n_seeds < 1:
        raise DataError(f"n_seeds must be at least 1; found {n_seeds}")
    for corpus in corpora:
        if corpus not in CORPORA:
            raise DataError(f"unknown corpus {corpus!r}: expected {' or '.join(CORPORA)}")
        for method in map(find_method, methods):
            for seed in range(n_seeds if method.is_random else 1):
                chosen = settings(method.name, corpus)
                yield Row(corpus, method.name, seed, vectors.content_hash[:_HASH], chosen)


def _load(corpus: str, vectors: WordVectors) -> Split:
    load = CORPORA[corpus]
    return known_tokens(load("train"), vectors), known_tokens(load("test"), vectors)

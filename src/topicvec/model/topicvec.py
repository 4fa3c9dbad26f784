"""The estimator of stage 2."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from os import PathLike
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topicvec.checks import check_choice, check_whole, checked_limit
from topicvec.embed.load import load_vectors
from topicvec.embed.vectors import WordVectors
from topicvec.engine import Engine
from topicvec.engine.blas import one_blas_thread
from topicvec.errors import DataError
from topicvec.model import checks, groups
from topicvec.model.fitted import FittedTopics
from topicvec.model.fitting import Job, Outcome, fit_plans, warn_unconverged
from topicvec.model.guided import guide
from topicvec.model.inference import infer
from topicvec.model.inputs import Counted, read_corpus
from topicvec.model.online import learn_batch
from topicvec.model.params import to_settings
from topicvec.model.start import Start
from topicvec.model.state import Settings
from topicvec.model.topicmodel import TopicModel
from topicvec.model.training import Progress
from topicvec.text.vocabulary import Vocabulary

__all__ = ["TopicVec"]

Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]
Ints = NDArray[np.integer]

_FIRST_BATCH = 20  # iterations on the first batch of partial_fit
_KEPT_UNKNOWN = 1000


class TopicVec(TopicModel):
    """Topics as vectors among word vectors, found in one article, a corpus or each class of it.

    Parameters
    ----------
    n_topics : int
        K. One of them is the null topic, row 0, which takes words that belong nowhere.
    vectors : WordVectors or path, optional
        The word vectors; by default those that come with the package.
    alpha : float, array of shape (K,), or "learn"
        Prior of the documents' mixtures; small for few topics a document. Learning needs at
        least 10 documents (of a class); with fewer it stays at 0.1.
    max_norm : float
        Longest topic vector allowed, γ in the paper; longer is more specific.
    solver : {"newton", "paper"}
        "newton" never lowers the bound and needs few iterations; "paper" is the paper's gradient
        step, for comparison.
    max_iter : int
        Limit of iterations.
    tol : float
        Stop when the bound for a token rises by less, twice in a row.
    init : {"auto", "spread", "documents", "random"}, array (K, n_dims), or fitted model
        Where topics start: spread among words, among documents, at random, or as given. "auto"
        means among documents if there are a thousand of them and ten for each topic.
    seed_words : mapping of str to words, or sequence of lists of words, optional
        Words that start a topic each and gently hold it; the names become labels.
    fixed_topics : fitted model or array of shape (F, n_dims), optional
        Topics that stay as they are while the others are learned beside them.
    tokenizer : callable from str to list of str, optional
        Cuts texts into words; `topicvec.text.Tokenizer` by default.
    stop_words : str, path, iterable of str or None
        Words to leave out, as in `topicvec.text.stop_words`.
    vocabulary : Vocabulary or sequence of str, optional
        The words of the columns, for a matrix of counts; for texts the only words to use.
    share : {"auto", "corpus", "class"}
        Who shares topics: all documents, or those of a class. "auto" means classes if `fit`
        is given y, and then ``n_topics`` is for each class; null topics become one.
    unknown_words : {"report", "learn"}
        What to do with words that have no vector: count them in `unknown_words_`, or learn
        vectors for the frequent ones from the documents.
    n_normalizer_words : int, optional
        Normalise topics over only so many of the most frequent words; faster with large
        vocabularies.
    min_share : float, optional
        Start large and drop topics with a smaller share of the tokens.
    max_cosine : float, optional
        Merge topics whose cosine is larger.
    weighted : bool
        Whether a matrix may have fractional counts, that is, weights.
    random_state : int, Generator, RandomState or None
        Seed of the start.
    n_jobs : int, engine or None
        Number of threads, by default one for each core; the result is the same to the bit.
    verbose : int
        1 logs each iteration; 0 is silent.
    callback : callable, optional
        Called after each iteration with a `topicvec.model.training.Progress`.
    checkpoint : path, optional
        File for the state of the fit; a fit that was broken off goes on from it.

    Attributes
    ----------
    topic_vectors_, topic_residuals_, alpha_ : arrays, (K, n_dims), (K,), (K,)
        The topics (row 0 is zero), minus their log-partitions, and the prior.
    topics_ : tuple of Topic
        The topics as people read them: ``.index``, ``.share``, ``.words``.
    doc_topic_ : array, (D, K)
        Proportions of the training documents, of the topics that each was allowed; not on
        models that were loaded or come from an operation.
    bounds_ : tuple of float
        The bound for each token after each iteration; of the last run if topics were dropped.
    n_iter_, converged_ : int, bool
        How many iterations these were, and whether they were enough.
    unknown_words_ : dict of str to int
        Frequent words of the documents without a vector.
    classes_ : array of str
        The classes that have topics of their own, if topics were learned for each.
    fitted_ : FittedTopics
        All of it in one record.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car", "bus"], np.eye(4)[[0, 0, 1, 1]], [1, 1, 1, 1])
    >>> texts = ["cat dog cat", "bus car bus", "dog cat dog", "car car bus"]
    >>> model = TopicVec(3, vectors, random_state=0).fit(texts)
    >>> model.transform(["cat", "bus"]).argmax(axis=1).tolist() in ([1, 2], [2, 1])
    True
    """

    def __init__(
        self,
        n_topics: int = 20,
        vectors: WordVectors | str | PathLike[str] | None = None,
        *,
        alpha: float | ArrayLike | Literal["learn"] = 0.1,
        max_norm: float = 7.0,
        solver: Literal["newton", "paper"] = "newton",
        max_iter: int = 100,
        tol: float = 1e-3,
        init: Start | ArrayLike | FittedTopics | TopicModel = "auto",
        seed_words: Mapping[str, Sequence[str]] | Sequence[Sequence[str]] | None = None,
        fixed_topics: ArrayLike | FittedTopics | TopicModel | None = None,
        tokenizer: Callable[[str], list[str]] | None = None,
        stop_words: Any = "english",
        vocabulary: Vocabulary | Sequence[str] | None = None,
        share: Literal["auto", "corpus", "class"] = "auto",
        unknown_words: Literal["report", "learn"] = "report",
        n_normalizer_words: int | None = None,
        min_share: float | None = None,
        max_cosine: float | None = None,
        weighted: bool = False,
        random_state: Any = None,
        n_jobs: int | Engine | None = None,
        verbose: int = 0,
        callback: Callable[[Progress], object] | None = None,
        checkpoint: str | PathLike[str] | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.vectors = vectors
        self.alpha = alpha
        self.max_norm = max_norm
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.seed_words = seed_words
        self.fixed_topics = fixed_topics
        self.tokenizer = tokenizer
        self.stop_words = stop_words
        self.vocabulary = vocabulary
        self.share = share
        self.unknown_words = unknown_words
        self.n_normalizer_words = n_normalizer_words
        self.min_share = min_share
        self.max_cosine = max_cosine
        self.weighted = weighted
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.checkpoint = checkpoint

    @one_blas_thread()
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        mask: ArrayLike | None = None,
        document_weights: ArrayLike | None = None,
    ) -> Self:
        """Learn topics.

        Parameters
        ----------
        X : iterable of str, Document or token lists; or matrix of counts
            The documents; a list with one article will do.
        y : sequence of D classes, optional
            Learn topics for each class, see ``share``.
        mask : array of bool, (D, K), optional
            Topics that each document may use; the null topic is always allowed. With a mask
            there is one set of topics, whatever y.
        document_weights : array, (D,), optional
            Multiply the counts of each document.

        Returns
        -------
        TopicVec
            This object.

        Examples
        --------
        >>> vectors = WordVectors(["cat", "dog", "car"], np.eye(3), [1, 1, 1])
        >>> model = TopicVec(2, vectors, random_state=0).fit(["cat", "dog car"], ["a", "b"])
        >>> model.fitted_.classes
        (None, 'a', 'b')
        """
        counted, vectors = self._read(X, document_weights)
        job = self._job()
        checks.check_length(y, counted.n_documents)
        if groups.wants_classes(self.share, y, mask):
            self._fit_classes(counted, vectors, groups.class_rows(y, counted.n_documents), job)
        else:
            allowed = checks.checked_mask(mask, counted.n_documents, self.n_topics)
            self._fit_corpus(counted, vectors, allowed, job)
        warn_unconverged(self.fitted_.settings, job)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Floats:
        """Learn topics and give each document's proportions, as from `transform`.

        Parameters
        ----------
        X, y, **fit_params
            As for `fit`.

        Returns
        -------
        array, (D, K)
            Of all topics, also where a class or a mask allowed only some while learning; see
            `doc_topic_` for those.

        Examples
        --------
        >>> vectors = WordVectors(["cat", "dog", "car"], np.eye(3), [1, 1, 1])
        >>> TopicVec(2, vectors, random_state=0).fit_transform(["cat dog", "car"]).shape
        (2, 2)
        """
        documents = X if hasattr(X, "shape") else list(X)
        return self.fit(documents, y, **fit_params).transform(documents)

    @one_blas_thread()
    def partial_fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn from one more batch of documents, by stepwise online EM.

        Parameters
        ----------
        X : documents
            As for `fit`; the first batch should have some hundred documents or more.
        y : ignored
            For scikit-learn.

        Returns
        -------
        TopicVec
            This object.

        Examples
        --------
        >>> vectors = WordVectors(["cat", "dog", "car"], np.eye(3), [1, 1, 1])
        >>> model = TopicVec(2, vectors, random_state=0).partial_fit(["cat dog", "car"])
        >>> model.partial_fit(["cat car"]).fitted_.n_documents
        3
        """
        earlier = getattr(self, "_fitted", None)
        counted, vectors = self._read(X, None, earlier)
        if earlier is None:
            job = replace(self._job(), max_iter=_FIRST_BATCH, checkpoint=None)
            self._fit_corpus(counted, vectors, None, job)
            return self
        engine = self._engine()
        free = guide(vectors, None, self.fixed_topics).free(earlier.n_topics)
        fitted = learn_batch(earlier, counted.counts, self._options().settings, engine, free)
        proportions = infer(fitted, counted.counts, engine).proportions
        self._keep(Outcome(fitted, proportions), fitted.settings, counted)
        return self

    def _read(
        self, X: Any, weights: ArrayLike | None, earlier: FittedTopics | None = None
    ) -> tuple[Counted, WordVectors]:
        vectors = load_vectors(self.vectors) if earlier is None else earlier.vectors
        learn = self.unknown_words == "learn" and earlier is None
        check_choice("unknown_words", self.unknown_words, "report", "learn")
        return read_corpus(self._reader(), X, vectors, weights, learn=learn)

    def _fit_corpus(
        self, counted: Counted, vectors: WordVectors, mask: Bools | None, job: Job
    ) -> None:
        guided = guide(vectors, self.seed_words, self.fixed_topics)
        if self._prunes() and (guided.n_topics or mask is not None):
            raise DataError(
                "min_share and max_cosine would renumber seeded, fixed or masked topics: "
                "fit without them and apply prune and merge afterwards"
            )
        options = self._options()
        plan = groups.plan_corpus(
            vectors, counted.counts, options, guided, mask, groups.generator(self.random_state)
        )
        outcomes, history = fit_plans([plan], guided.all_labels(options.n_topics), job)
        self._keep(outcomes[0], history, counted)

    def _fit_classes(
        self, counted: Counted, vectors: WordVectors, classes: dict[str, Ints], job: Job
    ) -> None:
        if self.seed_words is not None or self.fixed_topics is not None or self._prunes():
            raise DataError(
                "seed_words, fixed_topics, min_share and max_cosine need one set of topics: "
                "use share='corpus', or apply prune and merge afterwards"
            )
        plans = groups.plan_classes(
            vectors, counted.counts, classes, self._options(), groups.generator(self.random_state)
        )
        outcomes, history = fit_plans(plans, None, job)
        rows = [classes[str(plan.group)] for plan in plans]
        joined = groups.join([each.fitted for each in outcomes], rows, counted.n_documents)
        proportions = groups.side_by_side([each.proportions for each in outcomes], rows, joined)
        self._keep(Outcome(joined, proportions), history, counted)

    def _keep(self, outcome: Outcome, history: Mapping[str, Any], counted: Counted) -> None:
        frequent = sorted(counted.report.unknown.items(), key=lambda pair: (-pair[1], pair[0]))
        settings = {
            **outcome.fitted.settings,
            **history,
            "params": to_settings(self.get_params()),
            "unknown_words": dict(frequent[:_KEPT_UNKNOWN]),
        }
        self._adopt(replace(outcome.fitted, settings=settings))
        self.doc_topic_ = outcome.proportions

    def _options(self) -> groups.Options:
        check_whole("n_topics", self.n_topics, 2)
        limit = checked_limit("n_normalizer_words", self.n_normalizer_words)
        alpha, learn = checks.checked_alpha(self.alpha, self.n_topics)
        settings = Settings(max_norm=self.max_norm, solver=self.solver, learn_alpha=learn)
        return groups.Options(int(self.n_topics), alpha, self.init, settings, limit)

    def _job(self) -> Job:
        checks.check_training(self.max_iter, self.tol, self.min_share, self.max_cosine)
        names = [field.name for field in fields(Job) if field.name != "engine"]
        return Job(self._engine(), **{name: getattr(self, name) for name in names})

    def _prunes(self) -> bool:
        return self.min_share is not None or self.max_cosine is not None

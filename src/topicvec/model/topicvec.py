"""The estimator of stage 2."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from topicvec.checks import check_choice, check_number, check_whole
from topicvec.embed.vectors import WordVectors
from topicvec.engine import (
    Engine,
    LocalEngine,
    interrupts_held,
    near,
    one_blas_thread,
    resolve_engine,
)
from topicvec.errors import DataError, warn
from topicvec.estimator import Estimator, handed_names, not_fitted
from topicvec.frames import Frame, check_frame, framed, make_frame, row_names
from topicvec.model import bundle, operations
from topicvec.model.combine import MIN_SIMILARITY, Sources, combine
from topicvec.model.counts import (
    LEARNED_HINT,
    UNKNOWN_HINT,
    DocumentCounter,
    Reading,
    as_documents,
    check_columns,
    cut_batches,
    is_matrix,
    read_corpus,
    report_unknown,
    weighted,
)
from topicvec.model.estep import Inferred
from topicvec.model.fit import (
    Callback,
    Plan,
    class_rows,
    fit_plans,
    plan_classes,
    plan_corpus,
    warn_unconverged,
)
from topicvec.model.fitted import FittedTopics
from topicvec.model.growth import with_new_topics
from topicvec.model.inference import TokenTopic, in_context, infer, one_pass, word_distributions
from topicvec.model.online import Place, learn_batch
from topicvec.model.reading import Topic, read_topics, topic_labels
from topicvec.model.selection import check_n_topics, count_topics, fewer_topics
from topicvec.model.start import Start, fixed_topics, given_topics
from topicvec.model.state import PaperSolver, Solver
from topicvec.model.streamed import (
    AnyReading,
    StoredReading,
    most_topics,
    parse_memory,
    read_stored,
    room_for,
)
from topicvec.model.words import learn_more_words, text_vectors
from topicvec.text.bag import Bag
from topicvec.text.counting import DocumentLike, checked_documents
from topicvec.text.phrases import Phrases
from topicvec.text.prepared import PreparedCorpus
from topicvec.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from topicvec.embed.psdvec import PSDVec

__all__ = ["TopicVec"]

Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]
AnyPath = str | PathLike[str]
_LONGEST = 10  # words of a phrase; what has more is a text

_FIRST_BATCH = 20  # iterations on the first batch of partial_fit
_KEPT_UNKNOWN = 1000
_LARGEST_ALPHA = 1e9  # tokens; beyond it nothing is left of the documents' own
_OWN = {name: getattr(Solver, name) for name in ("max_norm", "learn_alpha", "pseudo_tokens")}


class TopicVec(Estimator):
    """Topics as vectors among word vectors, found in one article, a corpus or each class of it.

    Parameters
    ----------
    n_topics : int or "auto"
        How many topics a person sees. The null topic, which takes words that belong nowhere, is
        one more: row 0 of all arrays, so these have K = n_topics + 1 rows. "auto" takes as many
        as the documents support, see `topicvec.model.count_topics`. More than there are words is
        lowered with a warning.
    vectors : None, "general", "corpus", or anything that `load_vectors` takes
        The word vectors: a path, WordVectors, or what gensim, spaCy or a dict hold, brought to the
        scale of the package's. By default the general ones that come with the package, for English,
        learn from the documents: from 10,000 words on they are adapted to how these use words,
        below that words without a vector get one from spelling and neighbours. "general" leaves
        them as they are, "corpus" learns vectors from the documents alone, in any language.
    own_words : bool or float
        Whether topics have words of their own: drawn around what their vector says, which
        counts as much as so many tokens. True learns the number; False is the paper's model.
        With fewer than 20 documents topics have none, whatever is given: vectors rule.
    phrases : bool
        Whether collocations of a corpus, such as "new york", are words of their own; see
        `topicvec.text.find_phrases`. Vectors that are given as they are have no phrases.
    alpha : float, array of shape (K,), or "learn", optional
        Prior of the documents' mixtures; small for few topics a document. By default 1 / K, one
        token in all, and 0.1 with the paper's solver. Learning needs at least 10 documents (of a
        class); with fewer it stays at 0.1.
    max_norm : float
        Longest topic vector allowed, γ in the paper; longer is more specific.
    solver : {"newton", "paper"} or Solver
        "newton" never lowers the bound and needs few iterations; "paper" is the paper's gradient
        step from the paper's start, for comparison, on topics without words of their own. A
        `topicvec.model.PaperSolver` or `Solver` says more, such as the passes of an E-step.
    max_iter : int
        Limit of iterations.
    tol : float
        Stop when the bound for a token rises by less, twice in a row.
    init : {"auto", "spread", "documents", "random"}, array (K, n_dims), or fitted model
        Where topics start: spread among words, among documents, at random, or as given. "auto"
        means among documents if there are a thousand of them and ten for each topic, and at
        random with the paper's solver.
    seed_words : mapping of str to words, or sequence of lists of words, optional
        Words that start a topic each and gently hold it; the names become labels.
    fixed_topics : fitted model or array of shape (F, n_dims), optional
        Topics whose vectors stay as they are while the others are learned beside them; they
        have no words of their own.
    tokenizer : callable from str to list of str, optional
        Cuts texts into words; `topicvec.text.Tokenizer` by default.
    stop_words : str, path, iterable of str or None
        Words to leave out, as in `topicvec.text.stop_words`.
    vocabulary : Vocabulary or sequence of str, optional
        The words of the columns, for a matrix of counts or weights; for texts the only words to
        use.
    labeller : callable, optional
        From topics, as `Topic` records without the null topic and those of seed words, to their
        names, for example with a language model; by default names are made of the topics' words.
    share : {"corpus", "class"}
        Who shares topics: all documents, whatever y, or those of a class. For "class" `fit` needs
        y, and ``n_topics`` is for each class; null topics become one.
    random_state : int, Generator, RandomState or None
        Seed of the start.
    n_jobs : int, engine, distributed.Client or None
        Number of threads, and of processes that cut more than 20,000 texts into words, by
        default one for each core; or a connection to a Dask cluster, which is not saved or
        pickled with the model. The result is the same to the bit.
    verbose : int
        Whether `fit` shows a bar, in a terminal or a notebook: 0 or 1.

    Attributes
    ----------
    topic_vectors_, topic_residuals_, alpha_ : arrays, (K, n_dims), (K,), (K,)
        The topics (row 0 is zero), minus their log-partitions, and the prior.
    topics_ : tuple of Topic
        The topics as people read them: ``.label``, ``.share``, ``.words``, ``.is_background``;
        those that tell something first, then background, then the null topic.
    n_topics_ : int
        How many topics there are beside the null topic.
    doc_topic_ : array, (D, K)
        Proportions of the training documents, of the topics that each was allowed; not on
        models that were loaded or come from an operation.
    bounds_ : tuple of float
        The bound for each token after each iteration.
    n_iter_, converged_ : int, bool
        How many iterations these were, and whether they were enough.
    unknown_words_ : dict of str to int
        Frequent words of the documents that are not in the model.
    phrases_ : dict of str to int
        Phrases that are read as one word, with how often the documents have them.
    classes_ : array of str
        The classes that have topics of their own, if topics were learned for each.
    fitted_ : FittedTopics
        All of it in one record.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car", "bus"], np.eye(4)[[0, 0, 1, 1]], [1, 1, 1, 1])
    >>> texts = ["cat dog cat", "bus car bus", "dog cat dog", "car car bus"]
    >>> model = TopicVec(2, vectors, random_state=0).fit(texts)
    >>> model.transform(["cat", "bus"]).argmax(axis=1).tolist() in ([1, 2], [2, 1])
    True
    """

    _takes_counts = True

    def __init__(
        self,
        n_topics: int | Literal["auto"] = "auto",
        vectors: Any = None,
        *,
        own_words: bool | float = True,
        phrases: bool = True,
        alpha: float | ArrayLike | Literal["learn"] | None = None,
        max_norm: float = 7.0,
        solver: Literal["newton", "paper"] | Solver = "newton",
        max_iter: int = 100,
        tol: float = 1e-3,
        init: "Start | ArrayLike | FittedTopics | TopicVec" = "auto",
        seed_words: Mapping[str, Sequence[str]] | Sequence[Sequence[str]] | None = None,
        fixed_topics: "ArrayLike | FittedTopics | TopicVec | None" = None,
        tokenizer: Callable[[str], list[str]] | None = None,
        stop_words: Any = "english",
        vocabulary: Vocabulary | Sequence[str] | None = None,
        labeller: Callable[[Sequence[Topic]], Sequence[str]] | None = None,
        share: Literal["corpus", "class"] = "corpus",
        random_state: Any = None,
        n_jobs: int | Engine | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.vectors = vectors
        self.own_words = own_words
        self.phrases = phrases
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
        self.labeller = labeller
        self.share = share
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @one_blas_thread()
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        mask: ArrayLike | None = None,
        document_weights: ArrayLike | None = None,
        callback: Callback | None = None,
        checkpoint: AnyPath | None = None,
        batch_size: int | None = None,
        memory: str | int | None = None,
    ) -> Self:
        """Learn topics.

        Parameters
        ----------
        X : iterable of str, Document or token lists; matrix of counts; or PreparedCorpus
            The documents; a list with one article will do. A prepared corpus, or the path of its
            folder, stays in its files, see `topicvec.text.prepare`.
        y : sequence of D classes, optional
            The classes to learn topics for with ``share="class"``; without it y changes nothing.
        mask : array of bool, (D, K), optional
            Topics that each document may use; the null topic is always allowed.
        document_weights : array, (D,), optional
            Multiply the counts of each document.
        callback : callable, optional
            Called after each iteration with a `topicvec.model.StepInfo`.
        checkpoint : path, optional
            File for the state of the fit; a fit that was broken off goes on from it.
        batch_size : int, optional
            Learn from so many documents at a time, which may be a stream: only one batch is in
            the memory. The first is fitted, the others as by `partial_fit`; there is no
            ``doc_topic_`` of several.
        memory : str or int, optional
            What this process may use at most, such as "3GB", for a fit of a prepared corpus. It is
            refused before the start if it cannot be enough; what is left of it holds documents,
            which are read from files otherwise.

        Returns
        -------
        TopicVec
            This object.

        Examples
        --------
        >>> vectors = WordVectors(["cat", "dog", "car"], np.eye(3), [1, 1, 1])
        >>> model = TopicVec(1, vectors, share="class", random_state=0)
        >>> model.fit(["cat", "dog car"], ["a", "b"]).fitted_.classes
        (None, 'a', 'b')
        """
        X = _opened(X)
        if batch_size is not None:
            more: dict[str, Any] = {
                "mask": mask,
                "document_weights": document_weights,
                "memory": memory,
            }
            more["checkpoint"] = checkpoint
            return self._fit_stream(X, batch_size, {"y": y, "callback": callback, **more})
        engine = self._engine()
        check_whole("max_iter", self.max_iter, 1)
        check_number("tol", self.tol)
        check_choice("share", self.share, "corpus", "class")
        if not (self.labeller is None or callable(self.labeller)):
            raise DataError(f"labeller must be a function or None; found {self.labeller!r}")
        streams = isinstance(X, PreparedCorpus) and self._streams(mask, document_weights)
        room = 0 if memory is None else self._room(X, memory, streams, engine)
        reading = self._read(X)
        vectors = text_vectors(self.vectors, reading, engine)
        if streams and isinstance(reading, StoredReading):
            bag = reading.stored_bag(vectors, room, most_topics(self.n_topics))
        else:
            bag = reading.bag(vectors)
        report_unknown(bag, self._hint(reading))
        if document_weights is not None:
            bag = weighted(bag, document_weights)
        if y is not None:
            _check_length(y, bag.n_documents)
        if self.share == "class":
            plans = self._plan_classes(vectors, bag, y, mask)
        else:
            plans = [self._plan(vectors, bag, self.max_iter, mask)]
        with self._watched(callback) as told:
            fitted, proportions = fit_plans(
                plans, engine, bag.n_documents, callback=told, checkpoint=checkpoint
            )
        self._keep(fitted, proportions, bag, reading)
        if not (self.converged_ or fitted.settings["interrupted"]):  # of which there is a warning
            warn_unconverged(fitted.settings, self.tol, self.max_iter)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
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
        >>> TopicVec(1, vectors, random_state=0).fit_transform(["cat dog", "car"]).shape
        (2, 2)
        """
        documents = X if isinstance(X, PreparedCorpus | PathLike) else as_documents(X)
        return self.fit(documents, y, **fit_params).transform(documents)

    _place: Place | None = None  # where the batch before has left the topics

    @one_blas_thread()
    def partial_fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn from one more batch of documents, by stepwise online EM.

        Parameters
        ----------
        X : documents
            As for `fit`; the first batch should have some hundred documents or more, as it decides
            how many topics there are. With ``n_topics="auto"`` later batches bring new topics,
            see `topicvec.model.growth`; old ones stay.
        y : ignored
            For scikit-learn.

        Returns
        -------
        TopicVec
            This object.

        Examples
        --------
        >>> vectors = WordVectors(["cat", "dog", "car"], np.eye(3), [1, 1, 1])
        >>> model = TopicVec(1, vectors, random_state=0).partial_fit(["cat dog", "car"])
        >>> model.partial_fit(["cat car"]).fitted_.n_documents
        3
        """
        engine, earlier = self._engine(), getattr(self, "_fitted", None)
        reading = self._read(X, again=earlier is not None)
        if earlier is None:
            vectors = text_vectors(self.vectors, reading, engine)
        else:
            earlier = learn_more_words(earlier, reading) if self._learns_words else earlier
            vectors = earlier.vectors
        bag = reading.bag(vectors)
        report_unknown(bag, self._hint(reading))
        if earlier is None:
            plan = self._plan(vectors, bag, _FIRST_BATCH)
            fitted, proportions = fit_plans([plan], engine, bag.n_documents)
        else:
            solver, rng = self._solver()
            start = base = earlier
            if self._may_grow(vectors):
                fresh = partial(self._fresh, vectors, engine)
                start, base = with_new_topics(earlier, bag.counts, fresh, rng, engine)
            n_kept = 0
            if self.fixed_topics is not None:
                n_kept = len(fixed_topics(vectors, self.fixed_topics)[0])
            free = np.arange(base.n_topics) > n_kept
            fitted, proportions, self._place = learn_batch(
                base, bag.counts, Solver(**solver), engine, free, start, self._place
            )
        self._keep(fitted, proportions, bag, reading)
        return self

    @property
    def fitted_(self) -> FittedTopics:
        """Everything that is known of the topics, as one record."""
        if "_fitted" not in vars(self):
            raise not_fitted(self)
        return self._fitted

    @property
    def vectors_(self) -> WordVectors:
        """The word vectors in use."""
        return self.fitted_.vectors

    @property
    def vocabulary_(self) -> tuple[str, ...]:
        """The words that the model knows, one for each vector."""
        return self.fitted_.vectors.words

    @cached_property
    def topic_word_(self) -> Floats:
        """Probability of each word in each topic, (W, K); columns sum to 1.

        Rows in the order of ``vocabulary_``; with the topics' own words.
        """
        return word_distributions(self.fitted_, self._engine())

    @property
    def components_(self) -> Floats:
        """`topic_word_` with a topic in each row, (K, W), as scikit-learn's models have it."""
        return self.topic_word_.T

    @cached_property
    def topics_(self) -> tuple[Topic, ...]:
        """The live topics as people read them, the largest first and the null topic last."""
        return read_topics(self.fitted_)

    def transform(self, X: Any) -> Any:
        """Give each document's topic proportions.

        Parameters
        ----------
        X : iterable of str, Document or token lists; or matrix of counts
            The documents.

        Returns
        -------
        array or DataFrame, (D, K)
            Rows sum to 1. A document without a known word gets the prior mean. A DataFrame if
            `set_output` asks for it.

        Examples
        --------
        >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
        >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
        >>> model.transform(["the cat"]).sum(axis=1).round(6)
        array([1.])
        """
        return framed(self, self._infer(X).proportions, X)

    def expected_counts(self, X: Any, *, prior: bool = True) -> Floats:
        """Give the expected number of tokens of each topic in each document.

        Parameters
        ----------
        X : documents
            As for `transform`.
        prior : bool
            False takes one pass without a prior on the mixture, as the original program did
            for its features; each token then counts for itself, whatever the document.

        Returns
        -------
        array, (D, K)
            Rows sum to the number of known tokens.

        Examples
        --------
        >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
        >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
        >>> model.expected_counts(["cat and dog"], prior=False).sum().round(6)
        np.float64(2.0)
        """
        if prior:
            inferred = self._infer(X)
            expected: Floats = inferred.theta - self.fitted_.alpha
            return expected
        return one_pass(self.fitted_, self._count(X).counts, self._engine())

    def sqrt_proportions(self, X: Any, *, prior: bool = True) -> Floats:
        """Give square roots of the topic proportions: unit vectors, good for classifiers.

        Parameters
        ----------
        X : documents
            As for `transform`.
        prior : bool
            As for `expected_counts`.

        Returns
        -------
        array, (D, K)
            Rows have length 1.

        Examples
        --------
        >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
        >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
        >>> np.linalg.norm(model.sqrt_proportions(["cat"])).round(6)
        np.float64(1.0)
        """
        if prior:
            return np.sqrt(self._infer(X).proportions)
        expected = self.expected_counts(X, prior=False)
        expected[expected.sum(axis=1) == 0] = self.fitted_.alpha
        shares: Floats = expected / expected.sum(axis=1, keepdims=True)
        return np.sqrt(shares)

    def responsibilities(self, text: DocumentLike) -> list[TokenTopic]:
        """Say for each token of a text which topic it most probably comes from.

        Parameters
        ----------
        text : str, Document or token list
            One document.

        Returns
        -------
        list of TokenTopic
            All tokens in order; topic None for stop words and words without a vector.

        Examples
        --------
        >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
        >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
        >>> model.responsibilities("the cat")[0]
        TokenTopic(token='the', topic=None, probability=0.0)
        """
        return [_record(token, pi) for token, pi in self._by_token(text)]

    def token_proportions(self, text: DocumentLike) -> tuple[list[str], Floats]:
        """Give the probabilities of all topics for each known token of a text.

        Parameters
        ----------
        text : str, Document or token list
            One document.

        Returns
        -------
        tokens : list of str
            The known tokens in order, L of them.
        proportions : array, (L, K)
            Rows sum to 1; their sum over the tokens is `expected_counts`.

        Examples
        --------
        >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
        >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
        >>> tokens, proportions = model.token_proportions("the cat and the dog")
        >>> tokens, proportions.shape
        (['cat', 'dog'], (2, 2))
        """
        known = [(token, pi) for token, pi in self._by_token(text) if pi is not None]
        rows = np.array([pi for _, pi in known], float).reshape(-1, self.fitted_.n_topics)
        return [token for token, _ in known], rows

    def conditional(
        self,
        word: str | Sequence[str],
        context: Sequence[str] = (),
        topic: int = 0,
        *,
        residuals: "PSDVec | None" = None,
    ) -> Floats | float:
        """Give the probability of a word after other words and in a topic: the paper's eq. 2.

        P(w | w_0 … w_{c−1}, k) ≈ P(w | k) exp{v_w·Σ_l v_l + Σ_l a_lw}. The paper takes c = 0 to
        learn topics, as everything does here. As there, it is normalised for c = 0 alone, and
        for c = 1 in the null topic, with residuals.

        Parameters
        ----------
        word : str or sequence of str
            The word, or n of them; ``vocabulary_`` for all.
        context : sequence of str
            The c words before it.
        topic : int
            Its topic; 0 is the null topic.
        residuals : PSDVec, optional
            Where the bigram residuals a come from: the model of this model's vectors. Without
            them they are 0.

        Returns
        -------
        float, or array of shape (n,)

        Examples
        --------
        >>> from topicvec import PSDVec
        >>> texts = ["cat and dog sleep", "a car and a bus stop"] * 3
        >>> psdvec = PSDVec(2, min_count=1, window=2).fit(texts)
        >>> model = TopicVec(1, psdvec.vectors_, random_state=0).fit(texts)
        >>> found = model.conditional(model.vocabulary_, ["cat"], residuals=psdvec)
        >>> found.sum().round(6)
        np.float64(1.0)
        """
        check_whole("topic", topic, 0)
        if topic >= self.fitted_.n_topics:
            raise DataError(f"topic must be from 0 to {self.n_topics_}; found {topic!r}")
        if isinstance(context, str):
            raise DataError(f"context must be a list of words; found {context!r}")
        words = [word] if isinstance(word, str) else word
        P = self.topic_word_[:, topic]
        found = in_context(self.fitted_, P, words, context, residuals)
        return float(found[0]) if isinstance(word, str) else found

    def _by_token(self, text: DocumentLike) -> list[tuple[str, Floats | None]]:
        """Pair each token with the topics' probabilities; None without a vector."""
        if isinstance(text, list | tuple) and any(
            isinstance(token, str) and len(token.split()) > _LONGEST for token in text
        ):
            raise DataError(
                f"expected one text, or its tokens; found a {type(text).__name__} of texts: give "
                "them one at a time"
            )
        counter = self._counter()
        tokens = counter.tokens(text)
        rows_of = counter.known(tokens, self.fitted_.vectors)
        inferred = self._infer([tokens])
        rows = np.array(list(dict.fromkeys(rows_of.values())), dtype=np.int64)
        found = dict(zip(rows.tolist(), inferred.responsibilities(0, rows), strict=True))
        return [(token, found.get(rows_of.get(token, -1))) for token in tokens]

    def score(self, X: Any, y: object = None) -> float:  # noqa: ARG002
        """Give the bound on the log-likelihood for each known token; higher is better.

        Parameters
        ----------
        X : documents
            As for `transform`.
        y : ignored
            For scikit-learn.

        Returns
        -------
        float
            In nats a token.

        Examples
        --------
        >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
        >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
        >>> model.score(["cat"]) < 0
        True
        """
        inferred = self._infer(X)
        if inferred.n_tokens == 0:
            raise DataError("a score needs at least one known word; found none")
        return inferred.bound / inferred.n_tokens

    def perplexity(self, X: Any) -> float:
        """Give exp(−score): as uncertain as a choice among so many words; lower is better.

        Parameters
        ----------
        X : documents
            As for `transform`.

        Returns
        -------
        float

        Examples
        --------
        >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
        >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
        >>> model.perplexity(["cat"]) > 1
        True
        """
        return float(np.exp(-self.score(X)))

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Name the columns of what `transform` returns.

        Parameters
        ----------
        input_features : ignored
            For scikit-learn.

        Returns
        -------
        array of str, (K,)

        Examples
        --------
        >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
        >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
        >>> model.get_feature_names_out()
        array(['topic 0: null topic', 'topic 1: car'], dtype=object)
        """
        return np.array(self._names, dtype=object)

    @cached_property
    def _names(self) -> list[str]:
        return [f"topic {row}: {label}" for row, label in enumerate(topic_labels(self.fitted_))]

    def set_output(self, *, transform: str | None = None) -> Self:
        """Say whether `transform` gives an array, or a DataFrame with named columns.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            None leaves it as it is.

        Returns
        -------
        TopicVec
            This object.
        """
        if transform is not None:
            check_choice("transform", transform, "default", "pandas", "polars")
            self._sklearn_output_config = {"transform": transform}
        return self

    def topic_table(self, frame: Frame = "pandas") -> Any:
        """Give the topics as a DataFrame, a row for each; the columns of `topic_columns`.

        Parameters
        ----------
        frame : {"pandas", "polars"}
            Whose table.

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
        >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
        >>> model.topic_table()["label"].tolist()
        ['car', 'null topic']
        """
        from topicvec.model.tables import topic_columns  # which a command does not need

        check_frame(frame)
        return make_frame(topic_columns(self.topics_), frame)

    def document_table(self, X: Any, frame: Frame = "pandas") -> Any:
        """Give documents as a DataFrame: main topic, its share, and the share of each topic.

        Parameters
        ----------
        X : documents
            As for `transform`.
        frame : {"pandas", "polars"}
            Whose table.

        Returns
        -------
        DataFrame
            The columns of `document_columns`; rows of a Series keep their names.

        Examples
        --------
        >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
        >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
        >>> model.document_table(["cat", "a car"])["words"].tolist()
        [1, 1]
        """
        from topicvec.model.tables import document_columns

        check_frame(frame)
        documents = as_documents(X)
        found, names = self._infer(documents), self.get_feature_names_out().tolist()
        n_words = (found.theta - self.fitted_.alpha).sum(axis=1).round(6)
        columns = document_columns(documents, found.proportions, n_words, names)
        return make_frame(columns, frame, row_names(documents))

    def find_topics(self, query: DocumentLike, n: int = 5) -> list[tuple[Topic, float]]:
        """Find the topics that the words of a query most probably come from.

        Parameters
        ----------
        query : str, Document or token list
            One word, or more.
        n : int
            How many topics to give at most.

        Returns
        -------
        list of (Topic, float)
            With the mean probability of the topic given each known word, if all topics were
            equally probable; best first, without the null topic.

        Examples
        --------
        >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([3, 3, 3]), [1, 1, 1])
        >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"] * 4)
        >>> model.find_topics("a car", n=1)[0][0].label
        'car'
        """
        check_whole("n", n, 1)
        counts = self._counter().count([query], self.fitted_.vectors).counts
        found = one_pass(self.fitted_, counts, self._engine())[0]
        if not found.sum():
            raise DataError(f"no word of {query!r} has a vector: try a more frequent word")
        topics = [topic for topic in self.topics_ if not topic.is_null]
        ranked = sorted(topics, key=lambda topic: -found[topic.index])[:n]
        return [(topic, float(found[topic.index] / found.sum())) for topic in ranked]

    def _repr_html_(self) -> str:
        """Show the topics as a table; before a fit, scikit-learn's diagram."""
        if "_fitted" in vars(self):
            from topicvec.model.tables import html_table

            return html_table(repr(self), self.topics_)
        from sklearn.utils import estimator_html_repr

        diagram: str = estimator_html_repr(self)
        return diagram

    def drop(self, topics: Iterable[int]) -> Self:
        """Return a model without some topics, see `topicvec.model.operations.drop`."""
        return self._with(operations.drop(self.fitted_, topics))

    def prune(self, min_share: float = 0.001) -> Self:
        """Return a model without small topics, see `topicvec.model.operations.prune`."""
        return self._with(operations.prune(self.fitted_, min_share))

    def merge(self, groups: Iterable[Iterable[int]]) -> Self:
        """Return a model with groups of topics merged, see `topicvec.model.operations.merge`."""
        return self._with(operations.merge(self.fitted_, groups))

    def merge_similar(self, min_cosine: float) -> Self:
        """Return a model without near-duplicates, see `topicvec.model.operations.merge_similar`."""
        return self._with(operations.merge_similar(self.fitted_, min_cosine))

    def reduce(self, n_topics: int) -> Self:
        """Return a model with so many topics, see `topicvec.model.operations.reduce`."""
        return self._with(operations.reduce(self.fitted_, n_topics))

    def relabel(self, labels: Mapping[int, str | None]) -> Self:
        """Return a model with named topics, see `topicvec.model.operations.relabel`."""
        return self._with(operations.relabel(self.fitted_, labels))

    def concatenate(self, *others: "TopicVec") -> Self:
        """Return a model with all topics, see `topicvec.model.operations.concatenate`."""
        return self._with(
            operations.concatenate(self.fitted_, *(other.fitted_ for other in others))
        )

    @classmethod
    def combine(
        cls, models: "Iterable[TopicVec]", *, min_similarity: float = MIN_SIMILARITY
    ) -> Self:
        """Put models together that were fitted on separate batches; see `topicvec.model.combine`.

        Topics that match become one, with the words and documents of both; others stay. Words
        are those of all models.

        Parameters
        ----------
        models : iterable of TopicVec
            Fitted, on the same word vectors or on such as learned from their own texts.
        min_similarity : float
            Topics match only if the cosine of the roots of their words' probabilities is at
            least this; from 0 to 1.

        Returns
        -------
        TopicVec
            With the parameters of the first model, and ``sources_``: for each topic the models
            that it comes from, counted from 0, and its row there. One model comes back as it is.

        Examples
        --------
        >>> vectors = WordVectors(["cat", "dog", "car", "bus"], np.eye(4)[[0, 0, 1, 1]], [1] * 4)
        >>> pets = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "dog cat dog"])
        >>> roads = TopicVec(1, vectors, random_state=0).fit(["bus car bus", "car car bus"])
        >>> TopicVec.combine([pets, roads]).n_topics_, TopicVec.combine([pets, pets]).n_topics_
        (2, 1)
        """
        given = _checked_models(models)
        records = [model.fitted_ for model in given]
        engine = resolve_engine(given[0].n_jobs)
        found = combine(records, min_similarity=min_similarity, engine=engine)
        model: Self = given[0]._with(found.fitted)  # type: ignore[assignment]
        if not model._learns_words and found.fitted.vectors is not records[0].vectors:
            model.vectors = found.fitted.vectors
        model.sources_ = found.sources
        return model

    def save(self, path: str | PathLike[str], **options: Any) -> None:
        """Write the model to one file; options as for `topicvec.model.bundle.save`."""
        params = bundle.to_settings(self.get_params())
        if self._learns_words:
            params["vectors"] = self.vectors
        settings = {**self.fitted_.settings, "params": params}
        bundle.save(replace(self.fitted_, settings=settings), path, **options)

    @classmethod
    def load(
        cls, path: str | PathLike[str], *, vectors: WordVectors | None = None, **params: Any
    ) -> Self:
        """Read a model that `save` wrote; it gives the same bits.

        Parameters
        ----------
        path : path
            The file.
        vectors : WordVectors, optional
            The word vectors, if they were not saved with the model.
        **params
            Parameters to change, for example ``n_jobs``, or a tokenizer of your own.

        Returns
        -------
        TopicVec
        """
        from topicvec.embed.scale import to_scale

        given = None if vectors is None else to_scale(vectors)
        return cls._of(bundle.load(path, given), params)

    @classmethod
    def _of(cls, fitted: FittedTopics, params: Mapping[str, Any]) -> Self:
        written: Any = fitted.settings.get("params") or {}
        saved = bundle.from_settings({n: v for n, v in written.items() if n not in params})
        known = {name: value for name, value in saved.items() if name in cls._defaults()}
        if known.get("share") == "auto":  # of the first files
            known["share"] = "class" if any(fitted.classes) else "corpus"
        model = cls(**{"vectors": fitted.vectors, **known, **params})
        model._adopt(fitted)
        return model

    def _with(self, fitted: FittedTopics) -> Self:
        model = self.__sklearn_clone__()
        model._adopt(fitted)
        return model

    def _adopt(self, fitted: FittedTopics) -> None:
        """Copy a record into the attributes that users read."""
        for name in (
            "topics_",
            "topic_word_",
            "_names",
            "classes_",
            "sources_",
            "doc_topic_",
        ):  # of an earlier fit
            vars(self).pop(name, None)
        if classes := list(dict.fromkeys(name for name in fitted.classes if name is not None)):
            self.classes_ = np.array(classes, dtype=object)
        history: Any = fitted.settings
        self._fitted = fitted
        self.sources_: tuple[Sources, ...]  # of a model that `combine` made
        self.n_topics_ = fitted.n_topics - 1
        self.topic_vectors_ = fitted.topics
        self.topic_residuals_ = fitted.residuals
        self.alpha_ = fitted.alpha
        self.bounds_: Sequence[float] = tuple(history.get("bounds") or ())
        self.n_iter_ = int(history.get("n_iter") or 0)
        self.converged_ = bool(history.get("converged"))
        self.unknown_words_: dict[str, int] = dict(history.get("unknown_words") or {})
        self.phrases_: dict[str, int] = dict(history.get("phrases") or {})

    def __getstate__(self) -> dict[str, Any]:
        derived = ("topics_", "topic_word_", "_names", "_place")  # large, and soon made again
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in derived}

    @property
    def _learns_words(self) -> bool:
        """Whether vectors learn from the documents."""
        return self.vectors is None or (isinstance(self.vectors, str) and self.vectors == "corpus")

    def _hint(self, reading: AnyReading) -> str:
        """Say what helps against words of these documents that stay unknown."""
        learned = self._learns_words and not reading.is_matrix
        return LEARNED_HINT if learned else UNKNOWN_HINT

    def _read(self, X: Any, again: bool = False) -> AnyReading:
        """Cut the documents into words, and learn how to read them unless that is known."""
        X = _opened(X)
        columns = self._columns(X, again)
        if again:
            counter = self._counter()
            if isinstance(X, PreparedCorpus):
                X.check_tokenizer(self.tokenizer)
            if is_matrix(X) or not self._learns_words:
                return Reading(counter, X)
            documents = list(checked_documents(X))
            return Reading(counter, documents, counter.cut(documents))
        phrases = bool(self.phrases) and self._learns_words  # given vectors have no phrases
        if isinstance(X, PreparedCorpus):
            return read_stored(
                X, self.tokenizer, self.stop_words, self.vocabulary,
                phrases=phrases, engine=near(self._engine()),
            )  # fmt: skip
        return read_corpus(
            X, self.tokenizer, self.stop_words, self.vocabulary,
            phrases=phrases, cut=self._learns_words, n_jobs=self._n_processes, columns=columns,
        )  # fmt: skip

    def _columns(self, X: Any, again: bool) -> list[str] | None:
        """Check the columns of a matrix; give the names that a pipeline knows of them."""
        check_columns(self, X, reset=not again)
        known = again or self.vocabulary is not None or not is_matrix(X)
        return None if known else handed_names(X)

    def _streams(self, *of_documents: Any) -> bool:
        """Whether a fit of a prepared corpus can leave it in its files."""
        plain = all(given is None for given in (*of_documents, self.seed_words))
        return plain and self.share != "class"

    def _room(self, X: Any, memory: str | int, streams: bool, engine: Engine) -> int:
        """Say what is left for documents of the memory that a fit may use."""
        parse_memory(memory)
        if not streams:
            raise DataError(
                "memory is kept by a fit of a prepared corpus without classes, mask, weights or "
                "seed words, which are of all documents at once: prepare the documents "
                "(topicvec prepare), and leave these out or memory"
            )
        room = room_for(X, memory, self.vectors, self.n_topics, self._n_processes)
        # Workers elsewhere read the files; what is here would have to be sent to them.
        return room if getattr(engine, "shares_memory", False) else 0

    def _fit_stream(self, X: Any, batch_size: int, unused: Mapping[str, Any]) -> Self:
        """Fit the first batch and learn from the others; hold one at a time."""
        check_whole("batch_size", batch_size, 1)
        given = [name for name, value in unused.items() if value is not None]
        if given or self.share == "class":
            raise DataError(
                f"a fit in batches takes no {given[0] if given else 'classes'}, which is of all "
                "documents at once: leave out batch_size"
            )
        batches = cut_batches(X, batch_size)
        self.fit(next(batches))
        n_before = self.fitted_.n_documents
        for batch in batches:
            self.partial_fit(batch)
        if self.fitted_.n_documents > n_before:
            del self.doc_topic_  # of the last batch alone
        return self

    @contextmanager
    def _watched(self, callback: Callback | None) -> Iterator[Callback | None]:
        """Show a bar for a fit if that is asked for, and go on telling the callback."""
        if not self.verbose:
            yield callback
            return
        from topicvec.model.progress import watched  # rich takes a while to import

        with watched(self.tol) as watch:
            yield lambda news: [each(news) for each in (watch, callback) if each is not None]

    def _may_grow(self, vectors: WordVectors) -> bool:
        """Whether batches may bring new topics: not if their number was given."""
        return isinstance(self.n_topics, str) and not self._given_rows(vectors)

    def _fresh(
        self, vectors: WordVectors, engine: Engine, counts: csr_array, number: int
    ) -> FittedTopics:
        """Find topics of documents that the topics so far do not explain."""
        solver, rng = self._solver()
        n_rows = 1 + number
        plan = plan_corpus(
            vectors, counts, n_rows, self._prior(solver, n_rows), "auto", solver, rng,
            tol=self.tol, max_iter=_FIRST_BATCH,
        )  # fmt: skip
        return fit_plans([plan], engine, int(counts.shape[0]))[0]

    def _keep(
        self, fitted: FittedTopics, proportions: Floats | None, bag: Bag, reading: AnyReading
    ) -> None:
        with interrupts_held() as held:
            frequent = sorted(bag.unknown.items(), key=lambda pair: (-pair[1], pair[0]))
            learned: dict[str, Any] = {"unknown_words": dict(frequent[:_KEPT_UNKNOWN])}
            learned["phrases"] = dict(reading.counter.phrases.phrases)
            if reading.counter.columns is not None:
                learned["columns"] = list(reading.counter.columns)
            if isinstance(self.stop_words, str) and self.stop_words == "corpus":
                learned["stop_words"] = sorted(reading.counter.stop_words)
            self._adopt(replace(fitted, settings={**fitted.settings, **learned}))
            if self.labeller is not None:
                names = _names(self.labeller, self.topics_, self._fitted.labels)
                self._adopt(operations.relabel(self._fitted, names))
            if proportions is not None:
                self.doc_topic_ = proportions
        if held:
            self._say_interrupted()

    def _say_interrupted(self) -> None:
        """Note that Ctrl-C came when the model was whole: a command then ends as one broken off."""
        settings = {**self._fitted.settings, "interrupted": True}
        kept = vars(self).get("doc_topic_")
        self._adopt(replace(self._fitted, settings=settings))
        if kept is not None:
            self.doc_topic_ = kept

    def _plan(self, vectors: WordVectors, bag: Bag, max_iter: int, mask: Any = None) -> Plan:
        solver, rng = self._solver()
        n_rows = 1 + self._number(vectors, bag, mask)
        allowed = None if mask is None else _checked_mask(mask, bag.n_documents, n_rows)
        return plan_corpus(
            vectors, bag.counts, n_rows, self._prior(solver, n_rows), self.init, solver,
            rng, seed_words=self.seed_words, fixed=self.fixed_topics,
            allowed=allowed, engine=resolve_engine(self.n_jobs), tol=self.tol, max_iter=max_iter,
        )  # fmt: skip

    def _number(self, vectors: WordVectors, bag: Bag, mask: Any) -> int:
        """Say how many topics to learn beside the null topic."""
        check_n_topics(self.n_topics)
        given = [*self._given_rows(vectors), *([] if mask is None else [np.shape(mask)[-1]])]
        guided = len(self.seed_words or ())
        if self.fixed_topics is not None:
            guided += len(fixed_topics(vectors, self.fixed_topics)[0])
        if isinstance(self.n_topics, str):
            number = given[0] - 1 if given else count_topics(vectors, bag.counts)
            return max(number, guided + (not given))
        if given or not bag.counts.nnz:  # of which there will be an error
            return self.n_topics
        return max(fewer_topics(self.n_topics, bag.counts), min(guided, self.n_topics))

    def _given_rows(self, vectors: WordVectors) -> list[int]:
        """Say how many topics the prior and the start have, if these are given one by one."""
        alpha: Any = self.alpha
        rows = [] if alpha is None or np.ndim(alpha) == 0 else [len(alpha)]
        return (
            rows
            if isinstance(self.init, str)
            else [*rows, len(given_topics(vectors, self.init)[0])]
        )

    def _plan_classes(self, vectors: WordVectors, bag: Bag, y: Any, mask: Any) -> list[Plan]:
        if y is None or mask is not None:
            raise DataError("share='class' needs y with the class of each document, and no mask")
        if self.seed_words is not None or self.fixed_topics is not None:
            raise DataError(
                "seed_words and fixed_topics need one set of topics: use share='corpus'"
            )
        solver, rng = self._solver()
        check_n_topics(self.n_topics)
        given = self._given_rows(vectors) if isinstance(self.n_topics, str) else []
        number = given[0] - 1 if given else self.n_topics
        return plan_classes(
            vectors, bag.counts, class_rows(y, bag.n_documents), number,
            partial(self._prior, solver), self.init, solver, rng,
            engine=resolve_engine(self.n_jobs), tol=self.tol, max_iter=self.max_iter,
        )  # fmt: skip

    def _prior(self, solver: Mapping[str, Any], n_rows: int) -> Floats:
        """Give the prior of mixtures of so many topics, the null topic among them."""
        if self.alpha is None or solver["learn_alpha"]:
            known = solver["learn_alpha"] or solver.get("method") == "paper"
            return np.full(n_rows, 0.1 if known else 1 / n_rows)
        alpha = np.asarray(self.alpha, float)
        if (
            alpha.shape not in ((), (n_rows,))
            or not ((alpha > 0) & (alpha <= _LARGEST_ALPHA)).all()
        ):
            raise DataError(
                f"alpha must be positive and at most {_LARGEST_ALPHA:g}, one number or {n_rows}, "
                f"the first for the null topic; found {self.alpha!r}"
            )
        return np.broadcast_to(alpha, (n_rows,))

    def _solver(self) -> tuple[dict[str, Any], np.random.Generator]:
        """Check the parameters of EM; give the fields of its `Solver`, and the chance."""
        learn = isinstance(self.alpha, str) and self.alpha == "learn"
        if isinstance(self.alpha, str) and not learn:
            raise DataError(f"alpha must be a number, an array or 'learn'; found {self.alpha!r}")
        solver = PaperSolver() if self.solver == "paper" else self.solver
        given = vars(solver) if isinstance(solver, Solver) else {"method": solver}
        is_paper = given.get("method") == "paper"
        if any(given.get(name, default) != default for name, default in _OWN.items()):
            raise DataError(
                "a Solver's max_norm, learn_alpha and pseudo_tokens are TopicVec's max_norm, alpha "
                "and own_words: give them there"
            )
        seed = self.random_state  # as scikit-learn's users give it
        old = isinstance(seed, np.random.RandomState)
        try:
            rng = np.random.default_rng(seed.randint(2**31) if old else seed)
        except (TypeError, ValueError) as error:
            raise DataError(
                "random_state must be a whole number of at least 0, a generator of numpy or None; "
                f"found {seed!r}"
            ) from error
        own = {"pseudo_tokens": np.inf if is_paper else _pseudo_tokens(self.own_words)}
        return {**given, "max_norm": self.max_norm, "learn_alpha": learn, **own}, rng

    def _counter(self) -> DocumentCounter:
        """Give what reads documents: with what `fit` found in them, once it has."""
        learned = self._fitted.settings if "_fitted" in vars(self) else {}
        stop_words = learned.get("stop_words", self.stop_words)
        return DocumentCounter(
            self.tokenizer, stop_words, self.vocabulary, self._phrases, self._n_processes,
            learned.get("columns"),  # type: ignore[arg-type]
        )  # fmt: skip

    @property
    def _phrases(self) -> Phrases | None:
        """What joins the phrases of the documents; made once, as every text that is read asks."""
        return Phrases(self.phrases_) if vars(self).get("phrases_") else None

    def _engine(self) -> Engine:
        """Give what spreads the work."""
        return resolve_engine(self.n_jobs)

    @property
    def _n_processes(self) -> int:
        """Say in how many processes to cut many texts; an engine of others maps only the fit."""
        engine = resolve_engine(self.n_jobs)
        return engine.n_jobs if isinstance(engine, LocalEngine) else 1

    def _count(self, X: Any) -> Bag:
        self._columns(X, again=True)
        bag = self._counter().count(_opened(X), self.fitted_.vectors)
        report_unknown(bag)
        return bag

    def _infer(self, X: Any) -> Inferred:
        return infer(self.fitted_, self._count(X).counts, self._engine())


def _opened(X: Any) -> Any:
    """Open the folder of a prepared corpus, if its path is given."""
    return PreparedCorpus.open(X) if isinstance(X, PathLike) else X


def _checked_models(models: Any) -> "list[TopicVec]":
    """Refuse what cannot be put together."""
    given = list(models) if isinstance(models, Iterable) else [models]
    for model in given:
        if not isinstance(model, TopicVec):
            raise DataError(f"expected fitted TopicVec models, found {type(model).__name__}")
    for name in ("tokenizer", "stop_words"):
        ways = [bundle.to_settings({name: getattr(model, name)}) for model in given]
        if any(way != ways[0] for way in ways):
            raise DataError(f"the models have different {name}: fit all of them with one")
    if not given:
        raise DataError("expected at least one model to combine, found none")
    return given


def _pseudo_tokens(own_words: Any) -> float | None:
    """Say how many tokens a topic's vector is worth: infinitely many, or to be learned."""
    if isinstance(own_words, (bool, np.bool_)):
        return None if own_words else np.inf
    check_number("own_words", own_words)
    if not own_words:
        raise DataError("own_words must be True, False or a positive number; found 0")
    return float(own_words)


def _names(
    labeller: Callable[..., Any], topics: Sequence[Topic], given: Sequence[str | None]
) -> dict[int, str | None]:
    """Ask for names of the topics that have none; a fit is not lost if that fails."""
    shown = [topic for topic in topics if not topic.is_null and given[topic.index] is None]
    try:
        found = labeller(shown)
        names = [found] if isinstance(found, str) else list(found)
        right = all(name is None or isinstance(name, str) for name in names)
        if len(names) != len(shown) or not right:
            raise DataError(f"it must give {len(shown)} names, one a topic; found {names!r}")
    except Exception as error:
        warn(f"the labeller failed ({error!r}), so topics keep the names that they have")
        return {}
    return {topic.index: name for topic, name in zip(shown, names, strict=True)}


def _record(token: str, pi: Floats | None) -> TokenTopic:
    if pi is None:
        return TokenTopic(token, None, 0.0)
    topic = int(pi.argmax())
    return TokenTopic(token, topic, float(pi[topic]))


def _check_length(y: Any, n_documents: int) -> None:
    """Refuse classes that are not one for each document."""
    y = y if hasattr(y, "__len__") or not hasattr(y, "__array__") else np.asarray(y)
    is_sequence = hasattr(y, "__len__") and not isinstance(y, str) and getattr(y, "ndim", 1) > 0
    found = len(y) if is_sequence else type(y).__name__
    if found != n_documents:
        raise DataError(
            f"y must have a class for each of the {n_documents} documents; found {found}"
        )


def _checked_mask(mask: ArrayLike, n_documents: int, n_rows: int) -> Bools:
    """Refuse a mask of the wrong shape or kind; allow the null topic everywhere."""
    allowed = np.asarray(mask)
    if allowed.shape != (n_documents, n_rows) or allowed.dtype != bool:
        raise DataError(
            f"mask must be bool with shape ({n_documents}, {n_rows}), documents × topics with the "
            f"null topic first; found {allowed.dtype} {allowed.shape}"
        )
    allowed = allowed.copy()
    allowed[:, 0] = True
    return allowed

"""TopicVec on word vectors that are learned from the training documents, by several methods.

Here are the base of them all and the methods that count: PSDVec, skip-gram (by gensim), positive
PMI, and its singular vectors. `glove`, `neural_vectors` and `huang` have the others.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils.extmath import randomized_svd
from sklearn.utils.validation import check_is_fitted

from topicvec.checks import check_whole
from topicvec.embed.cooccurrence import Cooccurrence
from topicvec.embed.counting import count_cooccurrences
from topicvec.embed.psdvec import PSDVec
from topicvec.embed.vectors import WordVectors
from topicvec.engine import one_blas_thread
from topicvec.errors import DataError
from topicvec.text.vocabulary import Vocabulary
from topicvec_bench.base import Floats, TokenLists, TopicBaseline, checked, require
from topicvec_bench.topicvec import TopicVecFeatures

__all__ = [
    "LearnedVectors", "OnPPMI", "OnPSDVec", "OnSVD", "OnWord2Vec", "TrainedVectors", "count_pairs",
    "positive_pmi", "rescaled",
]  # fmt: skip

N_DIMS = 100
LEAST_COUNT = 2  # occurrences of a word that gets a vector
WINDOW = 10  # words on each side that methods count as near

# What topics mean by a norm of 7 depends on the words' norms: exp(v·t + r). This is the root mean
# square norm of the package's vectors, centred, over tokens. That of PSDVec's vectors of Reuters is
# 2.23, so nothing is learned twice to measure it. On the last training documents of Reuters, 1.6 or
# 3.3 in its place changed the mean macro F1 on PSDVec, word2vec, PPMI and SVD by 0.8 at most.
NORM = 2.34

_NEGATIVES = 5  # noise words of skip-gram
_REACH = 5  # words on each side that skip-gram draws its windows from
_CONTEXT_POWER = 0.75  # contexts are that much less unlike in frequency


class LearnedVectors(TopicBaseline):
    """TopicVec as in the paper, on word vectors that `learn` makes of the training documents.

    Parameters
    ----------
    n_topics : int
        Number of topics of each class if `fit` is given classes, or of the corpus; the null
        topic is one of them.
    n_dims : int
        Dimensions of the word vectors.
    min_count : int
        Leave out words that occur less often.
    max_norm : float
        Longest topic vector allowed.
    options : mapping, optional
        Further parameters of `topicvec.TopicVec`.
    random_state : int
        Seed.

    Attributes
    ----------
    vectors_ : WordVectors
        What was learned, brought to one scale by `rescaled`.
    features_ : TopicVecFeatures
        The topics; features are their proportions after one E-step, as the paper has them.

    Examples
    --------
    >>> class Given(LearnedVectors):
    ...     def learn(self, documents, vocabulary):
    ...         return np.eye(len(vocabulary))
    >>> model = Given(2, min_count=1).fit([["cat"], ["dog", "car"]], ["a", "b"])
    >>> model.transform([["cat"]]).shape
    (1, 3)
    """

    def __init__(
        self,
        n_topics: int = 15,
        *,
        n_dims: int = N_DIMS,
        min_count: int = LEAST_COUNT,
        max_norm: float = 7.0,
        options: Mapping[str, Any] | None = None,
        random_state: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.n_dims = n_dims
        self.min_count = min_count
        self.max_norm = max_norm
        self.options = options
        self.random_state = random_state

    @abstractmethod
    def learn(self, documents: list[list[str]], vocabulary: Vocabulary) -> Floats:
        """Learn a vector for each word of the vocabulary, (W, N), from documents of these words."""

    @one_blas_thread()
    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:
        """Learn word vectors, and topics of each class or without classes of all documents."""
        token_lists = checked(documents)
        for name in ("n_dims", "min_count"):
            check_whole(name, getattr(self, name), 1)
        vocabulary = Vocabulary.from_documents(token_lists, min_count=self.min_count)
        known = [[word for word in tokens if word in vocabulary] for tokens in token_lists]
        self.vectors_ = rescaled(vocabulary, self.learn(known, vocabulary))
        self.features_ = TopicVecFeatures(
            self.n_topics,
            self.vectors_,
            max_norm=self.max_norm,
            form="proportions",
            options=self.options,
            random_state=self.random_state,
        ).fit(token_lists, y)
        return self

    def transform(self, documents: TokenLists) -> Floats:
        """Give the topic proportions of documents, (D, K)."""
        check_is_fitted(self)
        return self.features_.transform(documents)

    def topic_words(self, n: int = 10) -> list[list[str]]:
        """List the n most relevant words of each live topic but the null topic."""
        check_is_fitted(self)
        return self.features_.topic_words(n)


class TrainedVectors(LearnedVectors):
    """The same for vectors that are trained by passes over the documents.

    Parameters
    ----------
    n_topics, n_dims, min_count, max_norm, options, random_state
        As in `LearnedVectors`.
    n_epochs : int
        Passes over the documents.

    Examples
    --------
    >>> issubclass(OnWord2Vec, TrainedVectors)
    True
    """

    def __init__(
        self,
        n_topics: int = 15,
        *,
        n_dims: int = N_DIMS,
        n_epochs: int = 10,
        min_count: int = LEAST_COUNT,
        max_norm: float = 7.0,
        options: Mapping[str, Any] | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(
            n_topics,
            n_dims=n_dims,
            min_count=min_count,
            max_norm=max_norm,
            options=options,
            random_state=random_state,
        )
        self.n_epochs = n_epochs

    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:
        """Learn word vectors, and topics of each class or without classes of all documents."""
        check_whole("n_epochs", self.n_epochs, 1)
        return super().fit(documents, y)


class OnPSDVec(LearnedVectors):
    """TopicVec on PSDVec of the training documents: the control of the other vectors.

    Parameters
    ----------
    n_topics, n_dims, min_count, max_norm, options, random_state
        As in `LearnedVectors`.

    Examples
    --------
    >>> documents = [["cat", "dog", "cat"], ["car", "bus", "bus"]] * 20
    >>> OnPSDVec(2, n_dims=1).fit(documents).vectors_
    WordVectors(4 words × 1 dims)
    """

    def learn(self, documents: list[list[str]], vocabulary: Vocabulary) -> Floats:
        """Factorize the log ratios of co-occurrence, (W, N)."""
        model = PSDVec(self.n_dims, n_jobs=1, random_state=self.random_state)
        learned = model.fit(count_pairs(documents, vocabulary)).vectors_
        return learned.subset(vocabulary.words).matrix


class OnWord2Vec(TrainedVectors):
    """TopicVec on skip-gram with negative sampling (Mikolov et al. 2013), by gensim.

    Parameters
    ----------
    n_topics, n_dims, n_epochs, min_count, max_norm, options, random_state
        As in `TrainedVectors`.

    Examples
    --------
    >>> documents = [["cat", "dog", "cat"], ["car", "bus", "bus"]] * 20
    >>> OnWord2Vec(2, n_dims=2).fit(documents).vectors_  # doctest: +SKIP
    WordVectors(4 words × 2 dims)
    """

    def learn(self, documents: list[list[str]], vocabulary: Vocabulary) -> Floats:
        """Train the words' input vectors, (W, N)."""
        word2vec = require("gensim.models", "TopicVec on word2vec").Word2Vec
        model = word2vec(
            documents, vector_size=self.n_dims, window=_REACH, sg=1, negative=_NEGATIVES,
            ns_exponent=_CONTEXT_POWER, epochs=self.n_epochs, min_count=1, seed=self.random_state,
            workers=1,  # with more, results depend on chance
            hashfxn=lambda text: crc32(text.encode()),  # Python's own is salted
        )  # fmt: skip
        order = [model.wv.key_to_index[word] for word in vocabulary.words]
        return np.asarray(model.wv.vectors[order])


class OnPPMI(LearnedVectors):
    """TopicVec on explicit vectors: a word's positive PMI with the most frequent context words.

    Parameters
    ----------
    n_topics, n_dims, min_count, max_norm, options, random_state
        As in `LearnedVectors`; `n_dims` is the number of context words.

    Notes
    -----
    Levy and Goldberg (2014) take every word as a context, which makes tens of thousands of sparse
    dimensions; topic vectors would be as long and dense.

    Examples
    --------
    >>> documents = [["cat", "dog", "cat"], ["car", "bus", "bus"]] * 20
    >>> OnPPMI(2, n_dims=3).fit(documents).vectors_
    WordVectors(4 words × 3 dims)
    """

    def learn(self, documents: list[list[str]], vocabulary: Vocabulary) -> Floats:
        """Take the columns of the most frequent contexts, (W, N)."""
        table = positive_pmi(count_pairs(documents, vocabulary).counts)
        return np.asarray(table[:, : self.n_dims].toarray())


class OnSVD(LearnedVectors):
    """TopicVec on singular vectors of the positive PMI (Levy, Goldberg and Dagan 2015).

    Parameters
    ----------
    n_topics, n_dims, min_count, max_norm, options, random_state
        As in `LearnedVectors`.

    Examples
    --------
    >>> documents = [["cat", "dog", "cat"], ["car", "bus", "bus"]] * 20
    >>> OnSVD(2, n_dims=2).fit(documents).vectors_
    WordVectors(4 words × 2 dims)
    """

    def learn(self, documents: list[list[str]], vocabulary: Vocabulary) -> Floats:
        """Scale left singular vectors by the roots of the singular values, (W, N)."""
        table = positive_pmi(count_pairs(documents, vocabulary).counts)
        n_dims = min(self.n_dims, len(vocabulary))
        left, values, _ = randomized_svd(table, n_dims, random_state=self.random_state)
        return np.asarray(left * np.sqrt(values))


def count_pairs(documents: list[list[str]], vocabulary: Vocabulary) -> Cooccurrence:
    """Count the words near each other, near ones more; all methods that count share this table.

    Parameters
    ----------
    documents : list of list of str
    vocabulary : Vocabulary

    Returns
    -------
    Cooccurrence
        Its words are in the order of the vocabulary.

    Examples
    --------
    >>> vocabulary = Vocabulary.from_counts({"cat": 2, "dog": 1})
    >>> count_pairs([["cat", "dog", "cat"]], vocabulary).counts.toarray().tolist()
    [[2520, 5040], [5040, 0]]
    """
    return count_cooccurrences(documents, vocabulary, window=WINDOW, n_jobs=1)


def positive_pmi(counts: csr_array) -> csr_array:
    """Give the positive PMI of words and contexts, contexts smoothed.

    Parameters
    ----------
    counts : csr_array of shape (W, C)
        How often each word has each context.

    Returns
    -------
    csr_array of shape (W, C), float64

    Notes
    -----
    Levy and Goldberg (2014) also take log k away, as skip-gram with k noise words does. With
    k = 5 the few counts of a small corpus left little: on the last training documents of Reuters
    it took 1 to 3 points of macro F1 from `OnPPMI`, and changed `OnSVD` by 0.4 at most.

    Examples
    --------
    >>> table = positive_pmi(csr_array(np.array([[3, 1], [1, 3]])))
    >>> table.toarray().round(3)  # log(3 · 2 / 4)
    array([[0.405, 0.   ], [0.   , 0.405]])
    """
    pairs = counts.astype(float).tocoo()
    rows, columns = pairs.coords
    words = np.asarray(counts.sum(axis=1), float)
    contexts = np.asarray(counts.sum(axis=0), float) ** _CONTEXT_POWER
    expected = words[rows] * contexts[columns] / contexts.sum()
    values = np.maximum(np.log(pairs.data / expected), 0)
    table = csr_array((values, (rows, columns)), shape=counts.shape)
    table.eliminate_zeros()
    return table


def rescaled(vocabulary: Vocabulary, matrix: Floats, norm: float = NORM) -> WordVectors:
    """Centre vectors and bring them to one root mean square norm over tokens.

    A topic's residual takes up whatever all vectors have in common, so centring changes no topic
    but makes the norm one of differences.

    Parameters
    ----------
    vocabulary : Vocabulary
    matrix : ndarray of shape (W, N)
        Vectors of its words.
    norm : float
        The norm wanted.

    Returns
    -------
    WordVectors

    Examples
    --------
    >>> vocabulary = Vocabulary.from_counts({"cat": 2, "dog": 2})
    >>> rescaled(vocabulary, np.array([[10.0], [14.0]]), 3.0).matrix.tolist()
    [[-3.0], [3.0]]
    """
    unigram: NDArray[np.float64] = vocabulary.unigram
    centred = matrix - unigram @ matrix
    found = float(np.sqrt(unigram @ np.square(centred).sum(axis=1)))
    if not found > 0:
        raise DataError(
            "expected words that differ in their contexts; found vectors that are all the same: "
            "give more or longer documents"
        )
    return WordVectors(vocabulary.words, centred * (norm / found), unigram)

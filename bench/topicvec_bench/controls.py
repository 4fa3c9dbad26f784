"""The simplest things that could explain a gain: the same formulas with no topics in them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.checks import check_choice, check_number, check_whole
from topicvec.embed.vectors import WordVectors
from topicvec.engine import LocalEngine
from topicvec.errors import DataError
from topicvec.model.fitted import FittedTopics
from topicvec.represent.own_words import own_word_features
from topicvec.represent.similarity import unit_rows
from topicvec_bench.base import ABOVE_ZERO, Baseline, Floats, Ints, TokenLists, checked
from topicvec_bench.mixtures import PSEUDO_TOKENS, likelihood_features
from topicvec_bench.simple import MeanVectors
from topicvec_bench.tokens import learn_words, number_tokens

__all__ = ["ClassCounts", "RandomGroups"]

_FOLDS = 5  # as for topics: training documents are described by counts without their own words


class RandomGroups(Baseline):
    """The row `own-words` with random groups of a class's documents in place of topics.

    Each class's documents are dealt into groups at random; a group has the words that its
    documents had, and all words of the corpus in place of what a topic's vector says. All else is
    as in `topicvec.represent.own_words`, the same function: damped counts, each word shared among
    the groups by P̃(w|g) = (C_wg + m u_w) / (C_g + m).

    Parameters
    ----------
    n_topics : int
        Groups of each class, and one more that stands for the null topic, as a row of TopicVec
        with so many topics a class has.
    vectors : WordVectors, optional
        For mean word vectors only; by default those that come with the package.
    form : {"own-words", "likelihoods"}
        Which features of TopicVec these are the control of: "likelihoods" are square roots of
        settled mixtures of the groups, beside the likelihood of each class.
    with_mean : bool
        Whether the mean word vector stands beside them.
    weighted : bool
        Whether words are weighed for "likelihoods", see `likelihood_features`.
    sharpness : float
        How sharply words are shared among groups.
    pseudo_tokens : float
        m, how many tokens the words of the corpus are worth beside those of a group.
    random_state : int
        Seed.

    Attributes
    ----------
    words_ : tuple of str
        The words of the training documents.

    Examples
    --------
    >>> documents = [["cat"], ["cat", "cow"], ["car"], ["car", "bus"]] * 5
    >>> model = RandomGroups(3).fit(documents, ["a", "a", "b", "b"] * 5)
    >>> model.transform([["cat"]]).shape
    (1, 5)
    """

    def __init__(
        self,
        n_topics: int = 15,
        vectors: WordVectors | None = None,
        *,
        form: Literal["own-words", "likelihoods"] = "own-words",
        with_mean: bool = False,
        weighted: bool = False,
        sharpness: float = 1.0,
        pseudo_tokens: float = PSEUDO_TOKENS,
        random_state: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.vectors = vectors
        self.form = form
        self.with_mean = with_mean
        self.weighted = weighted
        self.sharpness = sharpness
        self.pseudo_tokens = pseudo_tokens
        self.random_state = random_state

    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:
        """Deal the documents of each class into groups and count the groups' words."""
        check_whole("n_topics", self.n_topics, 2)
        check_number("sharpness", self.sharpness)
        check_number("pseudo_tokens", self.pseudo_tokens, ABOVE_ZERO)
        tokens = checked(documents)
        if y is None or len(y) != len(tokens):
            raise DataError(
                f"expected a class for each of the {len(tokens)} documents as y; found "
                f"{'none' if y is None else len(y)}"
            )
        check_choice("form", self.form, "own-words", "likelihoods")
        self.words_ = learn_words(tokens)
        counts = self.count(tokens)
        groups, self._fold = self._deal(np.asarray(y))
        n_groups = 1 + groups.max()
        self._masses = [
            _sum_by(groups[self._fold == fold], counts[self._fold == fold], n_groups)
            for fold in range(_FOLDS)
        ]
        unigram = np.asarray(counts.sum(axis=0), float)
        flat = WordVectors(self.words_, np.zeros((len(self.words_), 1)), unigram)
        # Topics of length 0: what the vectors say of every group is the unigram.
        bare = FittedTopics.bare(flat, np.zeros((n_groups, 1)), max_norm=1.0)
        names, each = np.unique(np.asarray(y)).tolist(), self.n_topics - 1
        self.fitted_ = replace(
            bare,
            word_mass=sum(self._masses[1:], self._masses[0]),
            classes=(None, *np.repeat(names, each).tolist())[:n_groups],
            pseudo=np.full(n_groups, self.pseudo_tokens),
            word_documents=np.bincount(counts.indices, minlength=len(self.words_)).astype(float),
            n_documents=len(tokens),
        )
        return self

    def transform(self, documents: TokenLists) -> Floats:
        """Give how much of each group's words documents have, (D, G), or what the form says."""
        tokens = checked(documents)
        return self._joined(self._features(self.count(tokens), self.fitted_.word_mass), tokens)

    def fit_transform(self, documents: TokenLists, y: Sequence[str] | None = None) -> Floats:
        """Count the groups' words and describe the same documents as if they were new, (D, G)."""
        tokens = checked(documents)
        counts = self.fit(tokens, y).count(tokens)
        parts, order = [], []
        for rows, masses in self.folds():
            parts.append(self._features(counts[rows], masses))
            order.append(rows)
        return self._joined(np.concatenate(parts)[np.argsort(np.concatenate(order))], tokens)

    def folds(self) -> Iterator[tuple[Ints, csr_array]]:
        """Give the training documents of each fold, and the groups' words (W, G) without them."""
        for fold in range(_FOLDS):
            masses = self._masses[:fold] + self._masses[fold + 1 :]
            yield np.flatnonzero(self._fold == fold), sum(masses[1:], masses[0])

    def count(self, tokens: list[list[str]]) -> csr_array:
        """Count the words of the training documents in token lists (D, W)."""
        ids = {word: number for number, word in enumerate(self.words_)}
        return number_tokens(tokens, ids).counts(len(ids))

    def _features(self, counts: csr_array, masses: csr_array) -> Floats:
        engine = LocalEngine(1)
        if self.form == "likelihoods":
            theirs = replace(self.fitted_, word_mass=masses)
            return likelihood_features(theirs, counts, engine, self.weighted)
        return own_word_features(
            self.fitted_,
            counts,
            engine,
            pseudo_tokens=self.pseudo_tokens,
            sharpness=self.sharpness,
            word_mass=masses,
        )

    def _joined(self, found: Floats, tokens: list[list[str]]) -> Floats:
        if not self.with_mean:
            return found
        means = MeanVectors(self.vectors).fit(tokens).transform(tokens)
        return np.hstack([found, unit_rows(means) if self.form == "likelihoods" else means])

    def _deal(self, classes: NDArray[np.str_]) -> tuple[Ints, Ints]:
        """Give each document a group of its class, group 0 left empty, and a fold."""
        rng = np.random.default_rng(self.random_state)
        each = self.n_topics - 1
        groups, folds = np.zeros(len(classes), int), np.zeros(len(classes), int)
        for number, name in enumerate(np.unique(classes)):
            rows = rng.permutation(np.flatnonzero(classes == name))
            dealt = np.arange(len(rows))
            groups[rows] = 1 + number * each + dealt % each
            folds[rows] = dealt // each % _FOLDS
        return groups, folds


class ClassCounts(RandomGroups):
    """The row `own-words` with one group a class, all its documents: word counts by class.

    Parameters
    ----------
    sharpness : float
        How sharply words are shared among classes.
    pseudo_tokens : float
        As in `RandomGroups`.

    Examples
    --------
    >>> documents = [["cat"], ["cat", "cow"], ["car"], ["car", "bus"]] * 5
    >>> ClassCounts().fit(documents, ["a", "a", "b", "b"] * 5).transform([["cat"]]).shape
    (1, 3)
    """

    n_topics, vectors, form, with_mean, random_state = 2, None, "own-words", False, 0
    weighted = False

    def __init__(self, *, sharpness: float = 1.0, pseudo_tokens: float = PSEUDO_TOKENS) -> None:
        self.sharpness = sharpness
        self.pseudo_tokens = pseudo_tokens


def _sum_by(groups: Ints, counts: csr_array, n_groups: int) -> csr_array:
    """Sum the counts of each group's documents: (W, G)."""
    members = csr_array(
        (np.ones(len(groups)), (np.arange(len(groups)), groups)), shape=(len(groups), n_groups)
    )
    return csr_array(counts.T @ members)

"""The one table of compared methods: what each is called, what it does here and who does it."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, Literal

from topicvec_bench.base import Baseline

__all__ = ["METHODS", "Method", "Role"]

Role = Literal["features", "topics"]


@dataclass(frozen=True)
class Method:
    """A compared method, and what it takes part in.

    Attributes
    ----------
    name : str
        As in the paper's table.
    about : str
        A sentence on what it does here, and how this differs from the paper.
    features, topics : str
        ``module:Class`` below this package that describes documents in table 2, and that finds
        topics to be compared; empty where the method takes no part.
    title : str
        Its name among topic models, if it has another one there.
    uses_classes : bool
        Whether it learns from the classes of the training documents.
    needs : str
        Package that must be installed.
    extra : str
        Extra of the laboratory that brings the package; empty if the laboratory itself does.
    settings : mapping
        Parameters that make the row of table 2 what its name says, on every corpus.
    form : str
        What stands for a document, where no parameter ``form`` says so.

    Examples
    --------
    >>> METHODS["BOW"].load().__name__, METHODS["BOW"].is_random()
    ('WordCounts', False)
    """

    name: str
    about: str
    features: str = ""
    topics: str = ""
    title: str = ""
    uses_classes: bool = False
    needs: str = ""
    extra: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    form: str = "features"

    def load(self, role: Role = "features") -> type[Baseline]:
        """Import the class for a role."""
        module, _, name = getattr(self, role).partition(":")
        found: type[Baseline] = getattr(importlib.import_module(f"{__package__}.{module}"), name)
        return found

    def is_random(self, role: Role = "features") -> bool:
        """Tell whether results depend on a seed."""
        return "random_state" in signature(self.load(role)).parameters

    def name_as(self, role: Role) -> str:
        """Give the name that the method has in a role."""
        return self.title if role == "topics" and self.title else self.name


_ALL = (
    Method("BOW", "Counts of the words of the training documents.", "simple:WordCounts"),
    Method("TF-IDF", "Damped counts weighted by rarity; not in the paper.", "simple:TfIdf"),
    Method(
        "LDA",
        "gensim with its defaults, 20 passes over the training documents; the paper trained on the "
        "test documents too and kept stop words. Even priors and all rare words are not to blame: "
        "see LDA, advised, and LDA-Gibbs.",
        "lda:GensimLDA",
        "lda:GensimLDA",
        title="LDA (gensim)",
        needs="gensim",
    ),
    Method(
        "LDA, advised",
        "gensim as its own tutorial advises: words of 20 documents and more but at most half of "
        "them, priors learned, up to 400 rounds for a document, 20 passes; not in the paper.",
        "lda:GensimLDA",
        needs="gensim",
        settings={
            "learn_priors": True,
            "max_iter": 400,
            "min_documents": 20,
            "max_share": 0.5,
        },
    ),
    Method(
        "LDA-Gibbs",
        "tomotopy, collapsed Gibbs sampling; not in the paper.",
        "lda:TomotopyLDA",
        "lda:TomotopyLDA",
        title="LDA (tomotopy)",
        needs="tomotopy",
    ),
    Method(
        "PLSA",
        "Tempered EM, test documents folded in with the topics fixed; β is 0.8 throughout, where "
        "its own paper lowers it on held-out words. Not in the paper's table.",
        "plsa:PLSA",
        "plsa:PLSA",
    ),
    Method(
        "ReplicatedSoftmax",
        "Hidden units of a Boltzmann machine over the 2,000 most frequent words, 100 epochs of "
        "CD-1; each document weighs the same, whatever its length. Not in the paper's table.",
        "replicated_softmax:ReplicatedSoftmax",
    ),
    Method(
        "DocNADE",
        "Hidden units after all words of a document, of a network that foretells each from those "
        "before, in random order; 20 epochs and all words, where its own paper has 2,000. Not in "
        "the paper's table.",
        "docnade:DocNADE",
    ),
    Method("LDA (scikit-learn)", "Online variational Bayes.", topics="lda:SklearnLDA"),
    Method("NMF (scikit-learn)", "Factors of the TF-IDF table.", topics="lda:SklearnNMF"),
    Method(
        "sLDA",
        "Supervised LDA by Gibbs sampling; features are proportions, where the paper most likely "
        "scored the model's own predictions.",
        "slda:SLDA",
        uses_classes=True,
    ),
    Method(
        "LFTM",
        "LF-LDA with the word vectors of TopicVec; test documents are inferred, where the paper "
        "sampled them together with the training documents.",
        "lftm:LFTM",
    ),
    Method(
        "LF-DMM",
        "The other model of LFTM, one topic a document, which the paper left out: features are "
        "the posterior of the topic, on long documents nearly a one and zeros.",
        "lfdmm:LFDMM",
    ),
    Method(
        "MeanWV",
        "Plain means; the original program did not reset its sum between documents, and had "
        "500-dimensional vectors from a larger corpus.",
        "simple:MeanVectors",
    ),
    Method(
        "WMD kNN",
        "Votes of the 5 training documents nearest by the word mover's distance, exact for the 20 "
        "best by the relaxed distance of the 300 nearest by mean vectors, on the 100 most frequent "
        "words of a document; the paper names it, but does not compare it.",
        "movers:WordMover",
        form="neighbours",
        uses_classes=True,
    ),
    Method(
        "Doc2Vec",
        "gensim, 20 epochs over the training documents and vectors inferred for all; the paper "
        "trained 5 epochs on the test documents too.",
        "doc2vec:Doc2Vec",
        needs="gensim",
    ),
    Method(
        "TopicVec, K = 1",
        "Paragraph Vector as the special case of TopicVec that the paper names: one topic vector "
        "for each document and no null topic, features are that vector; over the 6,000 most "
        "frequent words, whose frequencies are those of the training documents.",
        "paragraph:DocumentTopics",
    ),
    Method(
        "TWE",
        "TWE-1: word and topic vectors from the training documents, 400 dimensions each.",
        "twe:TWE",
        needs="gensim",
    ),
    Method(
        "TWE-2",
        "A vector of 400 dimensions for each pair of a word and its topic: 5 passes over words, "
        "then 5 over pairs; which pair a described document has is its most probable one.",
        "twe_pairs:TWE2",
        needs="gensim",
    ),
    Method(
        "TWE-3",
        "Word and topic vectors of 400 dimensions learned together, a pair having both: 5 passes "
        "over words and TWE-1 for the start, then 5 over pairs.",
        "twe_pairs:TWE3",
        needs="gensim",
    ),
    Method(
        "GaussianLDA",
        "Gaussian topics over the word vectors, cut to their first 50 principal components, where "
        "they do not all look alike; the paper found its topics nearly the same.",
        "gaussian_lda:GaussianLDA",
    ),
    Method(
        "ETM",
        "The embedded topic model with these word vectors; not in the paper.",
        "etm:ETM",
        "etm:ETM",
        needs="torch",
        extra="peers",
    ),
    Method(
        "BERTopic",
        "On sentence embeddings of all-MiniLM-L6-v2; not in the paper.",
        "sentences:BERTopic",
        "sentences:BERTopic",
        needs="bertopic",
        extra="peers",
    ),
    Method(
        "BERTopic (k-means)",
        "BERTopic with k-means in place of dense clusters.",
        topics="sentences:BERTopicKMeans",
        needs="bertopic",
        extra="peers",
    ),
    Method(
        "FASTopic",
        "On sentence embeddings of all-MiniLM-L6-v2; not in the paper.",
        "sentences:FASTopic",
        "sentences:FASTopic",
        needs="fastopic",
        extra="peers",
    ),
    Method(
        "KeyNMF",
        "Factors of the words nearest to each document, on the same embeddings; not in the paper.",
        "shared_space:KeyNMF",
        "shared_space:KeyNMF",
        needs="turftopic",
        extra="peers",
    ),
    Method(
        "Top2Vec",
        "Dense groups of documents and the words nearest to them, on the same embeddings.",
        topics="shared_space:Top2Vec",
        needs="top2vec",
        extra="peers",
    ),
    Method(
        "TopicVec",
        "The paper's: topics of each class without words of their own, γ = 7, α = 0.1; features "
        "are the topic proportions of the posterior after one E-step.",
        "topicvec:TopicVecFeatures",
        "topicvec:TopicVecTopics",
        uses_classes=True,
    ),
    Method(
        "TV+MeanWV",
        "The paper's: the features of TopicVec and those of MeanWV side by side.",
        "topicvec:TopicVecFeatures",
        uses_classes=True,
        settings={"with_mean": True},
    ),
    Method(
        "TopicVec, square roots",
        "The square roots of the features of TopicVec; not in the paper.",
        "topicvec:TopicVecFeatures",
        uses_classes=True,
        settings={"form": "square roots"},
    ),
    Method(
        "TopicVec, default",
        "Topics of each class by the defaults of this package (vectors that learn from the "
        "documents, topics with words of their own, α = 1 / K); square roots of proportions that "
        "have settled; not in the paper.",
        "topicvec:DefaultTopics",
        uses_classes=True,
        settings={"form": "square roots", "n_passes": None},
    ),
    Method(
        "TopicVec, likelihoods",
        "The topics of TopicVec, given words of their own from the training documents; square "
        "roots of proportions that have settled, the likelihood of the document in each class, "
        "and the mean word vector, each part of length 1; not in the paper.",
        "topicvec:TopicVecFeatures",
        uses_classes=True,
        settings={"form": "likelihoods", "with_mean": True, "n_passes": None},
    ),
    Method(
        "TopicVec, supervised",
        "The topics of TopicVec, their words tilted to their class by the weights of a logistic "
        "regression; proportions after one E-step of damped counts, of length 1, beside the "
        "regression's own class scores of length 0.3; not in the paper.",
        "supervised:SupervisedTopics",
        form="proportions",
        uses_classes=True,
    ),
    Method(
        "own-words",
        "No topic proportions: damped counts of words, each shared among the topics of TopicVec "
        "by how often the training documents of the topic had it; not in the paper.",
        "topicvec:TopicVecFeatures",
        uses_classes=True,
        settings={"form": "own-words", "sharpness": 0.6},
    ),
    Method(
        "own-words+MeanWV",
        "The features of own-words, words shared more sharply, and those of MeanWV.",
        "topicvec:TopicVecFeatures",
        uses_classes=True,
        settings={"form": "own-words", "with_mean": True},
    ),
    Method(
        "random groups",
        "A control: the formula of own-words with random groups of each class's documents in "
        "place of topics.",
        "controls:RandomGroups",
        uses_classes=True,
        settings={"sharpness": 0.6},
    ),
    Method(
        "random groups, likelihoods",
        "A control: the formula of TopicVec, likelihoods, with random groups of each class's "
        "documents in place of topics.",
        "controls:RandomGroups",
        uses_classes=True,
        settings={"form": "likelihoods", "with_mean": True},
    ),
    Method(
        "random groups, supervised",
        "A control: the formula of TopicVec, supervised, with random groups of each class's "
        "documents in place of topics.",
        "supervised:SupervisedTopics",
        form="proportions",
        uses_classes=True,
        settings={"groups": "random"},
    ),
    Method(
        "class counts",
        "A control: the formula of own-words with word counts of each class alone.",
        "controls:ClassCounts",
        form="own-words",
        uses_classes=True,
        settings={"sharpness": 0.6},
    ),
    Method(
        "TopicVec on PSDVec",
        "TopicVec on 100-dimensional PSDVec vectors of the training documents alone, which the "
        "rows below are to be held against; features as in TopicVec, vectors are centred and "
        "brought to one norm.",
        "learned_vectors:OnPSDVec",
        form="proportions",
        uses_classes=True,
    ),
    Method(
        "TopicVec on word2vec",
        "The same on skip-gram with 5 noise words, by gensim, 10 epochs.",
        "learned_vectors:OnWord2Vec",
        form="proportions",
        uses_classes=True,
        needs="gensim",
    ),
    Method(
        "TopicVec on GloVe",
        "The same on GloVe, 15 passes; cells weigh fully from 10 co-occurrences on, where its "
        "paper, with far more text, has 100.",
        "glove:OnGloVe",
        form="proportions",
        uses_classes=True,
        settings={"n_epochs": 15},
    ),
    Method(
        "TopicVec on PPMI",
        "The same on positive PMI with the 300 most frequent context words, where its paper takes "
        "all of them as sparse dimensions; not shifted.",
        "learned_vectors:OnPPMI",
        form="proportions",
        uses_classes=True,
        settings={"n_dims": 300},
    ),
    Method(
        "TopicVec on SVD",
        "The same on singular vectors of the positive PMI, times the roots of singular values.",
        "learned_vectors:OnSVD",
        form="proportions",
        uses_classes=True,
    ),
    Method(
        "TopicVec on NNLM",
        "The same on the input vectors of a neural language model of 4 words before, 5 epochs; "
        "trained against drawn noise words, where its paper has the whole softmax.",
        "neural_vectors:OnNNLM",
        form="proportions",
        uses_classes=True,
        settings={"n_epochs": 5},
    ),
    Method(
        "TopicVec on Huang",
        "The same on vectors that rank a word above a noise word by 4 words before and by the "
        "document, 5 epochs; one vector a word, where its paper goes on to several.",
        "huang:OnHuang",
        form="proportions",
        uses_classes=True,
        settings={"n_epochs": 5},
    ),
    Method(
        "TMD kNN",
        "Votes of the 5 training documents nearest by the topic mover's distance, exact between "
        "the 8 largest topics of each; the paper's future work.",
        "movers:TopicMover",
        form="neighbours",
        uses_classes=True,
    ),
)

METHODS: Mapping[str, Method] = {method.name: method for method in _ALL}

"""How good word vectors and topics are, in numbers."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topicvec.measure.clusters import ClusterScore as ClusterScore
    from topicvec.measure.clusters import cluster_score as cluster_score
    from topicvec.measure.clusters import dominant_topics as dominant_topics
    from topicvec.measure.clusters import kmeans_clusters as kmeans_clusters
    from topicvec.measure.coherence import TopicScores as TopicScores
    from topicvec.measure.coherence import c_v as c_v
    from topicvec.measure.coherence import npmi as npmi
    from topicvec.measure.coherence import u_mass as u_mass
    from topicvec.measure.diversity import embedding_coherence as embedding_coherence
    from topicvec.measure.diversity import inverted_rbo as inverted_rbo
    from topicvec.measure.diversity import rank_biased_overlap as rank_biased_overlap
    from topicvec.measure.diversity import topic_diversity as topic_diversity
    from topicvec.measure.heldout import HeldOutScore as HeldOutScore
    from topicvec.measure.heldout import document_completion as document_completion
    from topicvec.measure.heldout import held_out_perplexity as held_out_perplexity
    from topicvec.measure.heldout import split_tokens as split_tokens
    from topicvec.measure.stability import StabilityScore as StabilityScore
    from topicvec.measure.stability import match_topics as match_topics
    from topicvec.measure.stability import topic_stability as topic_stability
    from topicvec.measure.windows import WordStatistics as WordStatistics
    from topicvec.measure.windows import count_windows as count_windows
    from topicvec.measure.words import AnalogyScore as AnalogyScore
    from topicvec.measure.words import SimilarityScore as SimilarityScore
    from topicvec.measure.words import analogies as analogies
    from topicvec.measure.words import evaluate_words as evaluate_words
    from topicvec.measure.words import unrecognised_tests as unrecognised_tests
    from topicvec.measure.words import word_similarity as word_similarity

# Imported when first used: whoever tests words does not wait for compiled loops.
_NAMES = {
    "clusters": "ClusterScore cluster_score dominant_topics kmeans_clusters",
    "coherence": "TopicScores c_v npmi u_mass",
    "diversity": "embedding_coherence inverted_rbo rank_biased_overlap topic_diversity",
    "heldout": "HeldOutScore document_completion held_out_perplexity split_tokens",
    "stability": "StabilityScore match_topics topic_stability",
    "windows": "WordStatistics count_windows",
    "words": "AnalogyScore SimilarityScore analogies evaluate_words unrecognised_tests "
    "word_similarity",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)

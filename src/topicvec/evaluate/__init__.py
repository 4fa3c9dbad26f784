"""How good vectors, topics and representations are, in numbers."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topicvec.evaluate.clusters import ClusterScore as ClusterScore
    from topicvec.evaluate.clusters import cluster_score as cluster_score
    from topicvec.evaluate.clusters import dominant_topics as dominant_topics
    from topicvec.evaluate.clusters import kmeans_clusters as kmeans_clusters
    from topicvec.evaluate.coherence import TopicScores as TopicScores
    from topicvec.evaluate.coherence import c_v as c_v
    from topicvec.evaluate.coherence import npmi as npmi
    from topicvec.evaluate.coherence import u_mass as u_mass
    from topicvec.evaluate.diversity import embedding_coherence as embedding_coherence
    from topicvec.evaluate.diversity import inverted_rbo as inverted_rbo
    from topicvec.evaluate.diversity import rank_biased_overlap as rank_biased_overlap
    from topicvec.evaluate.diversity import topic_diversity as topic_diversity
    from topicvec.evaluate.heldout import HeldOutScore as HeldOutScore
    from topicvec.evaluate.heldout import document_completion as document_completion
    from topicvec.evaluate.heldout import held_out_perplexity as held_out_perplexity
    from topicvec.evaluate.heldout import split_tokens as split_tokens
    from topicvec.evaluate.stability import StabilityScore as StabilityScore
    from topicvec.evaluate.stability import match_topics as match_topics
    from topicvec.evaluate.stability import topic_stability as topic_stability
    from topicvec.evaluate.windows import WordStatistics as WordStatistics
    from topicvec.evaluate.windows import count_windows as count_windows
    from topicvec.evaluate.words import AnalogyScore as AnalogyScore
    from topicvec.evaluate.words import SimilarityScore as SimilarityScore
    from topicvec.evaluate.words import analogies as analogies
    from topicvec.evaluate.words import evaluate_words as evaluate_words
    from topicvec.evaluate.words import unrecognised_tests as unrecognised_tests
    from topicvec.evaluate.words import word_similarity as word_similarity

# Imported when first used: whoever tests words does not wait for compiled loops.
_HOME = {
    "AnalogyScore": "words",
    "ClusterScore": "clusters",
    "HeldOutScore": "heldout",
    "SimilarityScore": "words",
    "StabilityScore": "stability",
    "TopicScores": "coherence",
    "WordStatistics": "windows",
    "analogies": "words",
    "c_v": "coherence",
    "cluster_score": "clusters",
    "count_windows": "windows",
    "document_completion": "heldout",
    "dominant_topics": "clusters",
    "embedding_coherence": "diversity",
    "evaluate_words": "words",
    "held_out_perplexity": "heldout",
    "inverted_rbo": "diversity",
    "kmeans_clusters": "clusters",
    "match_topics": "stability",
    "npmi": "coherence",
    "rank_biased_overlap": "diversity",
    "split_tokens": "heldout",
    "topic_diversity": "diversity",
    "topic_stability": "stability",
    "u_mass": "coherence",
    "unrecognised_tests": "words",
    "word_similarity": "words",
}

__all__ = [
    "AnalogyScore",
    "ClusterScore",
    "HeldOutScore",
    "SimilarityScore",
    "StabilityScore",
    "TopicScores",
    "WordStatistics",
    "analogies",
    "c_v",
    "cluster_score",
    "count_windows",
    "document_completion",
    "dominant_topics",
    "embedding_coherence",
    "evaluate_words",
    "held_out_perplexity",
    "inverted_rbo",
    "kmeans_clusters",
    "match_topics",
    "npmi",
    "rank_biased_overlap",
    "split_tokens",
    "topic_diversity",
    "topic_stability",
    "u_mass",
    "unrecognised_tests",
    "word_similarity",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)

"""How good vectors, topics and representations are, in numbers."""

from topicvec.evaluate.words import (
    AnalogyScore,
    SimilarityScore,
    analogies,
    evaluate_words,
    unrecognised_tests,
    word_similarity,
)

__all__ = [
    "AnalogyScore",
    "SimilarityScore",
    "analogies",
    "evaluate_words",
    "unrecognised_tests",
    "word_similarity",
]

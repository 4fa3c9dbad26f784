"""Generative topic embeddings: topics as vectors in the word-vector space."""

__version__ = "0.1.0"

"""Word vectors: counting, factorizing, the record that holds them, and their files."""

from topicvec.embed.formats.frequencies import ZipfWarning
from topicvec.embed.load import load_vectors
from topicvec.embed.vectors import Alignment, WordVectors

__all__ = ["Alignment", "WordVectors", "ZipfWarning", "load_vectors"]

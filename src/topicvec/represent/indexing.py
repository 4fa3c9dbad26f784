"""Documents counted in all their words, for an index of them."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError
from topicvec.model.counts import DocumentCounter as Reader
from topicvec.model.topicvec import TopicVec as TopicModel
from topicvec.represent.documents import reader_of
from topicvec.represent.matching import WordIndex, how_telling
from topicvec.text.bag import BagBuilder
from topicvec.text.counting import DocumentLike as Text
from topicvec.text.counting import chunked, count_tokens, growing_ids
from topicvec.text.document import Document
from topicvec.text.stopwords import stop_words

__all__ = ["known_counts", "read_words", "telling_weights"]


def read_words(
    model: TopicModel, documents: Iterable[Text]
) -> tuple[tuple[str, ...], list[str], csr_array]:
    """Name the documents and count all their words but stop words."""
    reader, stop = reader_of(model), stop_words(model.stop_words)
    names: list[str] = []
    ids, builder = growing_ids(), BagBuilder()
    for texts in chunked(_checked(documents)):
        names += (_name(text, place) for place, text in enumerate(texts, len(names)))
        chunk = count_tokens([reader.tokens(text) for text in texts])
        for word in chunk.words:
            if word not in stop:
                ids[word]
        builder.add(chunk, ids)
    return tuple(names), list(ids), builder.build(len(ids)).counts


def _name(text: Text, place: int) -> str:
    return text.id if isinstance(text, Document) else str(place)


def _checked(documents: Iterable[Text]) -> Iterator[Text]:
    if isinstance(documents, (str, Document)) or hasattr(documents, "ndim"):
        kind = type(documents).__name__
        raise DataError(f"expected a list of texts, documents or token lists; found {kind}")
    return iter(documents)


def known_counts(
    reader: Reader, words: Sequence[str], counts: csr_array, vectors: WordVectors
) -> csr_array:
    """Turn counts of words (D, V) into counts over the rows of the vectors (D, W)."""
    rows_of = reader.known(words, vectors)
    rows = np.array([rows_of.get(word, -1) for word in words], dtype=np.int64)
    kept = counts[:, np.flatnonzero(rows >= 0)]
    shape = (counts.shape[0], len(vectors))
    known = csr_array((kept.data, rows[rows >= 0][kept.indices], kept.indptr), shape=shape)
    known.sort_indices()
    return known


def telling_weights(
    index: WordIndex, vectors: WordVectors, n_documents: int
) -> NDArray[np.float32]:
    """Say how telling each word of the vectors (W,) is in the documents."""
    weights = np.full(len(vectors), how_telling(0, n_documents))
    for row, word in enumerate(index.words):
        if word in vectors.ids:
            weights[vectors.ids[word]] = index.telling[row]
    return weights

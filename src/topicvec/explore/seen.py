"""The topics of a model as they are seen in some documents: their shares and their words there."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from topicvec.errors import DataError
from topicvec.text import Document

if TYPE_CHECKING:
    from topicvec.model import FittedTopics, Topic, TopicVec

__all__ = ["of_class", "seen_in", "shown_topics"]


def seen_in(model: "TopicVec", texts: Iterable[str | Document]) -> "FittedTopics":
    """Give a model's topics with the masses and words that they have in some documents.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    texts : iterable of str or Document
        The documents, for example one of them, or those of a class.

    Returns
    -------
    FittedTopics
        The same topics; shares, words and representative documents are of these texts.

    Examples
    --------
    >>> import numpy as np
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> seen_in(model, ["dog dog"]).word_counts.tolist()
    [0.0, 2.0, 0.0]
    """
    from topicvec.engine import resolve_engine as checked_engine
    from topicvec.model.counts import DocumentCounter as Reader
    from topicvec.model.inference import infer, representatives, word_masses

    fitted, engine = model.fitted_, checked_engine(model.n_jobs)
    reader = Reader(model.tokenizer, model.stop_words, model.vocabulary, model.weighted)
    inferred = infer(fitted, reader.count(texts, fitted.vectors).counts, engine)
    counts = np.zeros(len(fitted.vectors))
    counts[inferred.corpus.types] = inferred.corpus.type_counts
    return replace(
        fitted,
        mass=inferred.mass,
        word_counts=counts,
        word_mass=word_masses(inferred, len(fitted.vectors), engine),
        representative=representatives(inferred.proportions),
        n_documents=len(inferred.theta),
    )


def shown_topics(
    model: "TopicVec",
    texts: Iterable[str | Document] | None = None,
    *,
    label: str | None = None,
    n_words: int = 20,
) -> tuple["Topic", ...]:
    """Read the topics to show, the largest first, without the null topic.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    texts : iterable of str or Document, optional
        Topics as they are seen in these; by default as in the documents of the fit.
    label : str, optional
        Only the documents of this class; without texts, the topics that were learned for it,
        with their shares among each other.
    n_words : int
        Words of each topic.

    Examples
    --------
    >>> import numpy as np
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> [topic.index for topic in shown_topics(model)]
    [1]
    """
    from topicvec.model import read_topics

    if texts is not None and label is not None:
        texts = of_class(texts, label)
    fitted = model.fitted_ if texts is None else seen_in(model, texts)
    found = read_topics(fitted, n_words=n_words, n_nearest=0, min_mass=0.5)
    topics = [topic for topic in found if topic.words and not topic.is_null]
    return tuple(_for_class(topics, label) if label and texts is None else topics)


def of_class(texts: Iterable[str | Document], label: str) -> list[Document]:
    """Give the documents of a class.

    Examples
    --------
    >>> [text.id for text in of_class([Document("a", "Rain", "sky"), Document("b", "Salt")], "sky")]
    ['a']
    """
    documents = [text for text in texts if isinstance(text, Document)]
    found = [document for document in documents if document.label == label]
    if not found:
        labels = _named({document.label for document in documents})
        raise DataError(f"no document has the label {label!r}; found {labels}")
    return found


def _for_class(topics: Sequence["Topic"], label: str) -> list["Topic"]:
    chosen = [topic for topic in topics if topic.class_ == label]
    if not chosen:
        classes = _named({topic.class_ for topic in topics})
        raise DataError(
            f"no topics were learned for the class {label!r}; found {classes}: "
            "fit with classes, or give the documents of the class"
        )
    total = sum(topic.share for topic in chosen)
    return [replace(topic, share=topic.share / total) for topic in chosen]


def _named(labels: set[str | None]) -> str:
    return ", ".join(sorted(label for label in labels if label)) or "none"

"""What a model sees in some documents: its topics there, and mean mixtures of groups of them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from topicvec.engine import resolve_engine
from topicvec.errors import DataError
from topicvec.model import FittedTopics, Topic, TopicVec, read_topics
from topicvec.model.counts import log_unknown
from topicvec.model.estep import Inferred
from topicvec.model.inference import document_masses, infer, representatives, word_masses
from topicvec.pictures.palette import NULL_COLOUR, topic_colours
from topicvec.represent.documents import counter_of
from topicvec.text import Document
from topicvec.text.counting import DocumentLike

__all__ = ["infer_quietly", "of_class", "own_colours", "shown_topics"]

Texts = Iterable[str | Document]
Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def infer_quietly(model: TopicVec, texts: Iterable[DocumentLike]) -> Inferred:
    """Find the mixtures of documents; unknown words are no reason to warn, they can be seen.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    texts : iterable of str, Document or token lists
        The documents.

    Returns
    -------
    Inferred

    Examples
    --------
    >>> from topicvec import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> infer_quietly(model, ["dog dog", "yak"]).proportions.shape
    (2, 2)
    """
    bag = counter_of(model).count(texts, model.fitted_.vectors)
    log_unknown(bag.report)
    return infer(model.fitted_, bag.counts, resolve_engine(model.n_jobs))


def seen_in(model: TopicVec, texts: Texts) -> FittedTopics:
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
    >>> from topicvec import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> seen_in(model, ["dog dog"]).word_counts.tolist()
    [0.0, 2.0, 0.0]
    """
    fitted, inferred = model.fitted_, infer_quietly(model, texts)
    engine = resolve_engine(model.n_jobs)
    counts = np.zeros(len(fitted.vectors))
    counts[inferred.corpus.types] = inferred.corpus.type_counts
    masses = word_masses(inferred, len(counts))
    n_having, documents = document_masses(inferred, masses, engine)
    return replace(
        fitted,
        mass=inferred.mass,
        word_counts=counts,
        word_mass=masses,
        word_documents=n_having,
        document_mass=documents,
        representative=representatives(inferred.proportions),
        n_documents=len(inferred.theta),
    )


def shown_topics(
    model: TopicVec, texts: Texts | None = None, *, label: str | None = None, n_words: int = 20
) -> tuple[Topic, ...]:
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
    >>> from topicvec import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> [topic.index for topic in shown_topics(model)]
    [1]
    """
    if texts is not None and label is not None:
        texts = of_class(texts, label)
    fitted = model.fitted_ if texts is None else seen_in(model, texts)
    found = read_topics(fitted, n_words=n_words, n_nearest=0, min_mass=0.5)
    if texts is not None:  # a topic is called the same wherever it is seen
        known = {topic.index: topic for topic in model.topics_}
        same = (_as_in_model(topic, known.get(topic.index, topic)) for topic in found)
        found = tuple(sorted(same, key=lambda topic: (topic.is_background, -topic.share)))
    topics = [topic for topic in found if topic.words and not topic.is_null]
    return tuple(_for_class(topics, label) if label and texts is None else topics)


def _as_in_model(topic: Topic, known: Topic) -> Topic:
    return replace(topic, label=known.label, is_background=known.is_background)


def of_class(texts: Texts, label: str) -> list[Document]:
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


def _for_class(topics: Sequence[Topic], label: str) -> list[Topic]:
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


def own_colours(model: TopicVec, topics: Iterable[Topic]) -> list[str]:
    """Give topics the colours that they have in every picture of their model.

    Examples
    --------
    >>> from topicvec import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> own_colours(model, shown_topics(model))
    ['#332288']
    """
    colours = topic_colours(model.topics_)
    return [colours.get(topic.index, NULL_COLOUR) for topic in topics]

"""Pictures of topics and documents, each a function that gives a `Picture`, and their table.

A new kind is a file in ``kinds`` with a function of the same name, and an entry here.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from topicvec.model import TopicVec
    from topicvec.pictures.kinds.bound import bound as bound
    from topicvec.pictures.kinds.bound import bound_chart as bound_chart
    from topicvec.pictures.kinds.by_class import by_class as by_class
    from topicvec.pictures.kinds.cloud import cloud as cloud
    from topicvec.pictures.kinds.cloud import topic_cloud as topic_cloud
    from topicvec.pictures.kinds.document_map import document_map as document_map
    from topicvec.pictures.kinds.heatmap import heatmap as heatmap
    from topicvec.pictures.kinds.hierarchy import hierarchy as hierarchy
    from topicvec.pictures.kinds.over_time import over_time as over_time
    from topicvec.pictures.kinds.tokens import tokens as tokens
    from topicvec.pictures.kinds.topic_map import topic_map as topic_map
    from topicvec.pictures.svg import Picture as Picture
    from topicvec.text import Document


class Kind(NamedTuple):
    """A kind of picture.

    Attributes
    ----------
    shows : str
        What is seen, in a few words.
    needs : str
        What it takes beside a model: nothing, one document, or documents with labels or times.
    limits : tuple of str
        Parameters that limit how much is shown.
    """

    shows: str
    needs: str = ""
    limits: tuple[str, ...] = ()


KINDS: Mapping[str, Kind] = {
    "cloud": Kind(
        "topics as cells sized by share, words sized by relevance", limits=("max_topics", "n_words")
    ),
    "topic-map": Kind("topics as bubbles, similar ones near each other"),
    "document-map": Kind(
        "documents as dots, similar ones near each other", "documents, perhaps labels"
    ),
    "hierarchy": Kind("which topics would merge first"),
    "heatmap": Kind("the cosine of each pair of topics", limits=("max_topics",)),
    "by-class": Kind(
        "how much of each class is about each topic", "documents with labels", ("max_topics",)
    ),
    "over-time": Kind(
        "the topics' shares over time, and the words that rise",
        "documents with times",
        ("max_topics", "n_bins", "topic", "n_words"),
    ),
    "bound": Kind("the bound after each iteration of the fit"),
    "tokens": Kind("one document, its words in the colours of their topics", "one document"),
}

_HOME = {
    **{name.replace("-", "_"): f"kinds.{name.replace('-', '_')}" for name in KINDS},
    "Picture": "svg",
    "bound_chart": "kinds.bound",
    "topic_cloud": "kinds.cloud",
}

__all__ = [*_HOME, "KINDS", "Kind", "draw"]


def draw(
    kind: str, model: "TopicVec", documents: "Sequence[Document]" = (), **options: Any
) -> "Picture":
    """Draw a picture by the name of its kind.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    model : TopicVec
        A fitted model.
    documents : sequence of Document
        What kinds that need documents show; the first of them for a kind that needs one. A map
        is coloured by their labels if each has one.
    **options
        As for the function of that name, for example ``width``.

    Returns
    -------
    Picture

    Examples
    --------
    >>> import numpy as np
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> draw("topic-map", model, width=600)
    Picture(600 x 560)
    """
    make: Callable[..., Picture] = __getattr__(kind.replace("-", "_"))
    needs = KINDS[kind].needs
    labels = [document.label for document in documents]
    if needs == "documents, perhaps labels" and None not in labels:
        options = {"labels": labels, **options}
    given = [documents[0] if needs == "one document" else documents] if needs else []
    return make(model, *given, **options)


def __getattr__(name: str) -> Any:
    # Imported when first used: the table and the colours do not wait for a model.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)

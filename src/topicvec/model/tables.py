"""Topics and documents as tables: the columns of a DataFrame, and a page's table with bars."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicvec.model.reading import Topic
from topicvec.text.document import Document

__all__ = ["document_columns", "html_table", "kind_of", "topic_columns"]

Floats = NDArray[np.floating]
Columns = dict[str, Any]

_SHOWN = 20  # topics on a page
_ROUNDING = 0.01
# the colour is seen on light and on dark pages
_STYLE = (
    "<style>.topicvec td,.topicvec th{text-align:left!important;padding:.2em .7em}"
    ".topicvec td{max-width:40em}.topicvec td.share{white-space:nowrap}"
    ".topicvec i{display:inline-block;height:.7em;background:#7566c9;margin-right:.4em}"
    ".topicvec .other{opacity:.6}</style>"
)


def kind_of(topic: Topic) -> str:
    """Say whether a topic is background, the null topic, or one that tells something.

    Examples
    --------
    >>> kind_of(Topic(0, 0.1, 0.0, (), is_null=True))
    'null'
    """
    return "null" if topic.is_null else "background" if topic.is_background else "topic"


def topic_columns(topics: Sequence[Topic]) -> Columns:
    """Give a row for each topic, in their order.

    Parameters
    ----------
    topics : sequence of Topic
        As of `TopicVec.topics_`.

    Returns
    -------
    mapping of str to list
        ``topic`` (its row), ``label``, ``share`` of the training tokens, ``words``, ``kind``
        ("topic", "background" or "null"), ``documents`` (rows of the training documents that have
        most of it), and ``class`` if topics are of classes.

    Examples
    --------
    >>> topic_columns([Topic(1, 0.5, 5.0, (("sea", 1.9), ("salt", 1.2)), "sea", None)])["words"]
    ['sea, salt']
    """
    columns: Columns = {
        "topic": [topic.index for topic in topics],
        "label": [topic.title for topic in topics],
        "share": [topic.share for topic in topics],
        "words": [_words(topic) for topic in topics],
        "kind": [kind_of(topic) for topic in topics],
        "documents": [[row for row, _ in topic.documents] for topic in topics],
    }
    if any(topic.class_ is not None for topic in topics):
        columns["class"] = [topic.class_ for topic in topics]
    return columns


def document_columns(
    documents: Any, shares: Floats, n_words: Floats, names: Sequence[str]
) -> Columns:
    """Give a row for each document: its main topic, and its share of each.

    Parameters
    ----------
    documents : documents
        Those that are `Document`s have their id, the others their number.
    shares : array, (D, K)
        The topics' proportions.
    n_words : array, (D,)
        How many known words each document has, whole numbers if all are but for rounding; without
        a word the shares are the prior's.
    names : sequence of str
        Of the K topics, as of `TopicVec.get_feature_names_out`.

    Returns
    -------
    mapping of str to list or array
        ``document``, ``topic`` (the row of the largest but the null topic), ``label``, ``share``
        (of that topic), ``words``, and a column for each topic.

    Examples
    --------
    >>> names = ["topic 0: null topic", "topic 1: sea"]
    >>> columns = document_columns(["a"], np.array([[0.25, 0.75]]), np.ones(1), names)
    >>> columns["label"], columns["topic 1: sea"]
    (['sea'], array([0.75]))
    """
    main = 1 + shares[:, 1:].argmax(axis=1) if shares.shape[1] > 1 else np.zeros(len(shares), int)
    return {
        "document": _ids(documents, len(shares)),
        "topic": main,
        "label": [names[row].partition(": ")[2] for row in main],
        "share": shares[np.arange(len(shares)), main],
        "words": _whole(n_words),
        **dict(zip(names, shares.T, strict=True)),
    }


def _whole(numbers: Floats) -> NDArray[Any]:
    """Give sums of probabilities as the counts that they are, if no weights made them."""
    nearest = numbers.round()
    counts = np.abs(numbers - nearest).max(initial=0.0) < _ROUNDING
    return nearest.astype(int) if counts else numbers


def _ids(documents: Any, n_documents: int) -> list[Any]:
    if isinstance(documents, list) and all(isinstance(each, Document) for each in documents):
        return [document.id for document in documents]
    return list(range(n_documents))


def html_table(title: str, topics: Sequence[Topic]) -> str:
    """Draw topics as a table of HTML, as notebooks show a fitted model.

    Parameters
    ----------
    title : str
        What stands above.
    topics : sequence of Topic
        The first twenty are shown.

    Returns
    -------
    str

    Examples
    --------
    >>> "<td>1</td>" in html_table("TopicVec()", [Topic(1, 0.5, 5.0, (("sea", 1.9),), "sea")])
    True
    """
    largest = max((topic.share for topic in topics), default=1.0) or 1.0
    rows = "".join(_row(topic, topic.share / largest) for topic in topics[:_SHOWN])
    more = f"<p>and {len(topics) - _SHOWN} more</p>" if len(topics) > _SHOWN else ""
    head = "<tr><th>topic</th><th>label</th><th>share</th><th>words</th></tr>"
    table = f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"
    return f'<div class="topicvec">{_STYLE}<p><code>{escape(title)}</code></p>{table}{more}</div>'


def _row(topic: Topic, part: float) -> str:
    of_class = f" [{topic.class_}]" if topic.class_ else ""
    bar = f'<i style="width:{6 * part:.2f}em"></i>{topic.share:.1%}'
    style = "" if kind_of(topic) == "topic" else ' class="other"'
    name, words = escape(topic.title + of_class), escape(_words(topic))
    return (
        f'<tr{style}><td>{topic.index}</td><td>{name}</td><td class="share">{bar}</td>'
        f"<td>{words}</td></tr>"
    )


def _words(topic: Topic) -> str:
    return ", ".join(word for word, _ in topic.words or topic.nearest)

"""A part of a collection that fits into one file."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from itertools import chain, zip_longest
from typing import Any

from topicvec.explore.prepare.clouds import cloud_of
from topicvec.explore.prepare.corpus import Collection
from topicvec.explore.prepare.documents import page
from topicvec.explore.prepare.records import Overview, TopicPage

__all__ = ["Sample", "sample"]

_MOST_CHARACTERS = 4000  # of a text
_FEWEST, _MOST = 2, 10  # documents of a topic
_SIMILAR = 40  # similar documents to look at; those in the sample are kept


@dataclass(frozen=True)
class Sample:
    """Everything that a report shows.

    Parameters
    ----------
    overview : Overview
        The corpus and its topics.
    topics : dict of int to dict
        Topic pages, with numbers of documents in place of documents.
    documents : dict of int to dict
        Document pages, with numbers and scores of similar documents in place of documents.
    clouds : dict of str to str
        SVG by topic, and of ``"all"``.
    """

    overview: Overview
    topics: dict[int, dict[str, Any]]
    documents: dict[int, dict[str, Any]]
    clouds: dict[str, str]


def sample(
    collection: Collection,
    *,
    n_documents: int = 300,
    advance: Callable[[int, int], object] | None = None,
) -> Sample:
    """Take all topics, and of each the documents with the largest part of it.

    Parameters
    ----------
    collection : Collection
        What is shown.
    n_documents : int
        How many documents to take at most.
    advance : callable, optional
        Told how many documents are done, and of how many.

    Returns
    -------
    Sample
    """
    topics = collection.topics
    per_topic = min(max(n_documents // len(topics), _FEWEST), _MOST)
    pages = {topic.index: collection.topic(topic.index, per_topic) for topic in topics}
    rows = _rows(collection, list(pages.values()), n_documents)
    documents = {}
    for done, row in enumerate(sorted(rows), 1):
        documents[row] = _document(collection, row, rows)
        if advance is not None:
            advance(done, len(rows))
    return Sample(
        overview=replace(collection.overview, note=_note(collection, rows)),
        topics={index: _topic(found, rows) for index, found in pages.items()},
        documents=documents,
        clouds={"all": cloud_of(topics)}
        | {str(topic.index): cloud_of((topic,)) for topic in topics if topic.words},
    )


def _rows(collection: Collection, pages: list[TopicPage], n_documents: int) -> set[int]:
    """Choose documents: the first of every topic, then the second, and so on."""
    lists = [[card.index for card in page.documents] for page in pages]
    ranked = chain.from_iterable(zip_longest(*lists))
    chosen = list(dict.fromkeys(row for row in ranked if row is not None))
    rest = range(0, len(collection.documents), max(len(collection.documents) // n_documents, 1))
    return set(list(dict.fromkeys([*chosen, *rest]))[:n_documents])


def _note(collection: Collection, rows: set[int]) -> str:
    n_all = len(collection.documents)
    return "" if len(rows) == n_all else f"{len(rows):,} of the documents are in this report"


def _topic(found: TopicPage, rows: set[int]) -> dict[str, Any]:
    return {
        "index": found.topic.index,
        "n_main": found.n_main,
        "similar": found.similar,
        "labels": found.labels,
        "documents": [card.index for card in found.documents if card.index in rows],
    }


def _document(collection: Collection, row: int, rows: set[int]) -> dict[str, Any]:
    whole = collection.document(row, n_similar=0)
    spans, after = page(whole.view.spans, 0, _MOST_CHARACTERS)
    near = [hit for hit in collection.like(row, _SIMILAR) if hit.index in rows]
    short = replace(
        whole, view=replace(whole.view, spans=spans, next=None), similar=(), cut=after is not None
    )
    return asdict(short) | {
        "similar": [(hit.index, round(hit.score, 3)) for hit in near[:4]],
        "snippet": collection.card(row).snippet,
    }

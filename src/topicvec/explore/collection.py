"""A model with a corpus, and everything that a page shows of the two, as plain records."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import tee
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topicvec.errors import DataError
from topicvec.explore import records
from topicvec.explore.views import (
    cloud_of,
    frequency_views,
    headline,
    opening,
    text_part,
    topic_views,
)
from topicvec.model import TopicVec, document_topics
from topicvec.pictures.coloured import ReadText, cut_text, read_text
from topicvec.represent import DocumentIndex, Hit, Sentence, nearest_topics, summarize
from topicvec.represent.words import digest_of
from topicvec.text import Document

__all__ = ["Collection"]

Floats = NDArray[np.floating]

_MAP_HEIGHT = 0.72
_LEAST = 0.005  # smaller proportions are not shown
_LISTED = 0.05  # a document with less of a topic is not listed under it
_MOST_HITS = 500  # of a search
_SUMMARISED = 1_000, 50_000  # characters; shorter needs none, the rest of a longer is left out


@dataclass(frozen=True, eq=False)
class Collection:
    """A model and documents, made ready to be shown; use `build`.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    documents : tuple of Document
        The corpus.
    index : DocumentIndex
        The same documents, made ready for search.
    title : str
        Heading of the page.

    Examples
    --------
    >>> from topicvec import TopicVec, datasets
    >>> documents = datasets.sample_corpus()
    >>> model = TopicVec(n_topics=7, random_state=0).fit(documents)
    >>> collection = Collection.build(model, documents, "A small corpus")
    >>> collection.overview.n_documents
    96
    >>> collection.find("telescopes and comets").documents[0].id.split("-")[0]
    'astronomy'
    """

    model: TopicVec
    documents: tuple[Document, ...]
    index: DocumentIndex
    title: str

    @classmethod
    def build(
        cls, model: TopicVec, texts: Iterable[str | Document], title: str = "Topics",
        index: str | PathLike[str] | None = None,
    ) -> "Collection":  # fmt: skip
        """Read the documents and make them ready.

        Parameters
        ----------
        model : TopicVec
            A fitted model.
        texts : iterable of str or Document
            The documents; bare texts are named by their number.
        title : str
            Heading of the page.
        index : path, optional
            File of an index of these documents. If there is none it is made and kept there, which
            takes most of the time; the next start takes it from there.

        Returns
        -------
        Collection
        """
        numbered = (  # a stream, so that a bar can count it
            text if isinstance(text, Document) else Document(str(number), text)
            for number, text in enumerate(texts, 1)
        )
        if index is not None and Path(index).exists():
            documents = tuple(numbered)
            return cls(model, documents, _kept(index, model, documents), title)
        shown, indexed = tee(numbered)
        made = DocumentIndex.build(model, indexed)
        documents = tuple(shown)
        if not documents:
            raise DataError("expected at least one document to show; found none")
        if index is not None:
            made.save(index)
        return cls(model, documents, made, title)

    @cached_property
    def topics(self) -> tuple[records.TopicView, ...]:
        """The topics, the largest first and the null topic last."""
        return topic_views(self.model, _MAP_HEIGHT)

    @cached_property
    def proportions(self) -> Floats:
        """Topic proportions of the documents (D, K); zeros for one without a known word."""
        known = np.asarray(self.index.directions.any(axis=1))
        return np.asarray(self.index.mixtures**2 * known[:, None])

    @cached_property
    def overview(self) -> records.Overview:
        """What the first page shows."""
        labels = sorted({document.label for document in self.documents if document.label})
        n_words = int(self.index.counts.sum())
        return records.Overview(
            self.title, len(self.documents), n_words, tuple(labels), self.topics, _MAP_HEIGHT
        )

    def topic(self, index: int, n: int = 10) -> records.TopicPage:
        """Collect what is known of a topic.

        Parameters
        ----------
        index : int
            Its row in the topic vectors.
        n : int
            How many documents to list.

        Returns
        -------
        TopicPage
        """
        return records.TopicPage(
            topic=self.topic_view(index),
            frequencies=self._frequencies[index],
            n_main=int((self._main == index).sum()),
            similar=self._similar(index),
            labels=self._labels(index),
            documents=self.find(topic=index, n=n).documents,
        )

    def cloud(self, topic: int | None = None) -> str:
        """Draw the largest topics, or the words of one, as SVG."""
        return cloud_of(self.topics if topic is None else (self.topic_view(topic),))

    def topic_view(self, index: int) -> records.TopicView:
        """Look a topic up by its row in the topic vectors."""
        found = next((view for view in self.topics if view.index == index), None)
        if found is None:
            raise records.Missing(f"no topic has the number {index}")
        return found

    def document(self, index: int, n_similar: int = 6) -> records.DocumentPage:
        """Collect what is known of a document.

        Parameters
        ----------
        index : int
            Its place in the corpus, from 0.
        n_similar : int
            How many similar documents to list.

        Returns
        -------
        DocumentPage
        """
        document = self._document(index)
        part = self.text(index)
        return records.DocumentPage(
            index=index,
            title=headline(document.text),
            n_words=int(self.index.counts[[index]].sum()),
            view=records.DocumentView(
                document.id, document.label, self._mixture(index), part.spans, part.next
            ),
            summary=self._summary(document.text),
            similar=tuple(self.card(hit.index, hit.score) for hit in self.like(index, n_similar)),
        )

    def text(self, index: int, start: int = 0) -> records.TextPart:
        """Give a part of a document's text, coloured.

        Parameters
        ----------
        index : int
            Its place in the corpus, from 0.
        start : int
            Where the part begins, in characters.

        Returns
        -------
        TextPart
        """
        text = self._document(index).text
        return text_part(cut_text(text, self._read(text).tokens), start)

    def find(
        self,
        query: str = "",
        topic: int | None = None,
        label: str | None = None,
        n: int = 20,
        offset: int = 0,
    ) -> records.Found:
        """List documents: those that fit a query, have a topic, or belong to a class.

        Parameters
        ----------
        query : str
            Words to look for; without them the documents come by topic or in their order.
        topic : int, optional
            Only documents with a part of this topic.
        label : str, optional
            Only documents of this class.
        n, offset : int
            Which part of what is found to give.

        Returns
        -------
        Found
        """
        hits = self._hits(query, topic)
        if label is not None:
            hits = [hit for hit in hits if self.documents[hit[0]].label == label]
        cards = (self.card(row, score) for row, score in hits[offset : offset + n])
        return records.Found(len(hits), offset, tuple(cards))

    def analyse(self, text: str, n_similar: int = 6) -> records.DocumentPage:
        """Describe any text as if it were a document of the corpus.

        Parameters
        ----------
        text : str
            The text.
        n_similar : int
            How many similar documents to list.

        Returns
        -------
        DocumentPage
        """
        read = self._read(text)
        part = text_part(cut_text(text, read.tokens))
        hits = self.index.search(text, n_similar)
        return records.DocumentPage(
            index=None,
            title=headline(text),
            n_words=len(text.split()),
            view=records.DocumentView("", None, read.mixture if read.n_known else (), part.spans),
            summary=self._summary(text),
            similar=tuple(self.card(hit.index, hit.score) for hit in hits),
            cut=part.next is not None,
        )

    def card(self, index: int, score: float | None = None) -> records.DocumentCard:
        """Describe a document for a list.

        Parameters
        ----------
        index : int
            Its place in the corpus, from 0.
        score : float, optional
            How well it fits what was asked.

        Returns
        -------
        DocumentCard
        """
        document = self.documents[index]
        score = None if score is None else round(score, 3)
        return records.DocumentCard(
            index, document.id, document.label, *opening(document.text), self._mixture(index), score
        )

    def like(self, index: int, n: int) -> Sequence[Hit]:
        """Find the documents most like one of them, best first."""
        most = min(n, len(self.documents) - 1)
        return self.index.similar(index, most) if most else ()

    @cached_property
    def _frequencies(self) -> dict[int, tuple[tuple[str, float, float], ...]]:
        return frequency_views(self.model)

    @cached_property
    def _main(self) -> NDArray[np.intp]:
        """The largest topic of each document (D,); 0, the null topic, only if it has no other."""
        shares = self.proportions
        return np.where(shares.any(axis=1), shares[:, 1:].argmax(axis=1) + 1, 0)

    @cached_property
    def _read(self) -> Callable[[str], ReadText]:
        return lru_cache(maxsize=64)(partial(read_text, self.model))

    def _similar(self, topic: int, n: int = 6) -> tuple[tuple[int, float], ...]:
        """Give the topics most like one of them with their cosines, best first."""
        shown = {view.index for view in self.topics}
        near = nearest_topics(self.model, topic, self.model.fitted_.n_topics)
        return tuple((k, round(cosine, 3)) for k, cosine in near if k in shown)[:n]

    @cached_property
    def _by_label(self) -> dict[str, Floats]:
        """Mean proportions (K,) of each class."""
        labels = np.array([document.label or "" for document in self.documents])
        names = self.overview.labels
        return {name: self.proportions[labels == name].mean(axis=0) for name in names}

    def _labels(self, topic: int, n: int = 8) -> tuple[tuple[str, float], ...]:
        shares = [(label, round(float(mean[topic]), 4)) for label, mean in self._by_label.items()]
        return tuple(sorted(shares, key=lambda pair: -pair[1])[:n])

    def _document(self, index: int) -> Document:
        if not 0 <= index < len(self.documents):
            raise records.Missing(f"no document has the number {index}")
        return self.documents[index]

    def _hits(self, query: str, topic: int | None) -> Sequence[tuple[int, float | None]]:
        part = None if topic is None else self.proportions[:, self.topic_view(topic).index]
        if query.strip():
            found = self.index.search(query, min(_MOST_HITS, len(self.documents)))
            kept = (hit for hit in found if part is None or part[hit.index] >= _LISTED)
            return [(hit.index, hit.score) for hit in kept if hit.score > 0]
        if part is None:
            return [(row, None) for row in range(len(self.documents))]
        order = np.argsort(-part, kind="stable")[: int((part >= _LISTED).sum())]
        return [(row, None) for row in order.tolist()]

    def _mixture(self, index: int) -> tuple[tuple[int, float], ...]:
        pairs = document_topics(self.proportions[index], min_share=_LEAST)
        return tuple((k, round(share, 4)) for k, share in pairs)

    def _summary(self, text: str) -> tuple[Sentence, ...]:
        shortest, longest = _SUMMARISED
        return tuple(summarize(self.model, text[:longest], 3)) if len(text) >= shortest else ()


def _kept(
    path: str | PathLike[str], model: TopicVec, documents: Iterable[Document]
) -> DocumentIndex:
    """Load an index, and refuse one of other documents."""
    index = DocumentIndex.load(path, model)
    if index.digest != digest_of(documents):
        raise DataError(
            f"{path} is an index of other documents, or was made before: delete it, and it is "
            "made anew; or give another file"
        )
    return index

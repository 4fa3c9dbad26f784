"""TopicVec for collections and clusters of Dask.

What Dask has in parts is worked on where it lies: texts are cut into words and documents get their
topics by the workers. The words of all documents meet in this process, which deals out their counts
once; then only topics and sums travel, see `topicvec.engine.dask`.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from topicvec.engine import Engine, resolve_engine
from topicvec.errors import EngineError, require
from topicvec.model.counts import DocumentCounter, is_matrix
from topicvec.model.streamed import AnyReading
from topicvec.model.topicvec import TopicVec
from topicvec.text.bag import Bag
from topicvec.text.prepared import PreparedCorpus

__all__ = ["DaskTopicVec"]

Floats = NDArray[np.floating]

_PURPOSE = "DaskTopicVec"


class DaskTopicVec(TopicVec):
    """TopicVec on a Dask cluster: the same topics to the bit, whatever the workers.

    Parameters
    ----------
    client : distributed.Client, optional
        The connection to the cluster; by default the latest one that was made. It is not saved or
        pickled with the model.
    **params
        As for `TopicVec`; ``n_jobs`` is the number of threads for what is done in this process.

    Attributes
    ----------
    client_ : distributed.Client
        The connection in use.

    Examples
    --------
    >>> import dask.bag
    >>> from distributed import Client
    >>> from topicvec import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car", "bus"], np.eye(4)[[0, 0, 1, 1]], [1, 1, 1, 1])
    >>> texts = ["cat dog cat", "bus car bus", "dog cat dog", "car car bus"]
    >>> with Client(processes=False, n_workers=1, dashboard_address=None) as client:
    ...     bag = dask.bag.from_sequence(texts, npartitions=2)
    ...     model = DaskTopicVec(client, n_topics=2, vectors=vectors, random_state=0).fit(bag)
    ...     lazy = model.transform(bag)
    ...     lazy.compute().shape
    (4, 3)
    >>> local = TopicVec(2, vectors, random_state=0).fit(texts)
    >>> bool((model.to_local().topic_vectors_ == local.topic_vectors_).all())
    True
    """

    def __init__(self, client: Any = None, **params: Any) -> None:
        super().__init__(**params)
        self.client = client

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        return {"client": None, **TopicVec._defaults()}

    @property
    def client_(self) -> Any:
        """The connection in use: the given one, or the latest."""
        if self.client is not None:
            return self.client
        try:
            return require("distributed", "dask", _PURPOSE).get_client()
        except ValueError as error:
            raise EngineError(
                "there is no Dask client: make a distributed.Client, or give one as client=; "
                "to_local() gives a model that needs none"
            ) from error

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Learn topics.

        Parameters
        ----------
        X : Bag of documents, array of counts, Delayed or list of Delayed; or as for `TopicVec.fit`
            The documents. Blocks of an array may be dense or sparse; a Delayed gives a list of
            documents or a block of counts. Of a prepared corpus, or the path of its folder, the
            workers read the shards themselves, from a folder that all of them see.
        y : dask array or sequence of D classes, optional
            As for `TopicVec.fit`.
        **fit_params
            ``mask``, ``document_weights``, ``callback``, ``checkpoint`` and ``memory`` of
            `TopicVec.fit`.

        Returns
        -------
        DaskTopicVec
            This object.
        """
        more = {name: self._value(value) for name, value in fit_params.items()}
        return super().fit(Path(X) if isinstance(X, str) else X, self._value(y), **more)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Learn topics and give each document's proportions, as from `transform`."""
        documents = Path(X) if isinstance(X, str) else list(X) if _is_stream(X) else X
        return self.fit(documents, y, **fit_params).transform(documents)

    def transform(self, X: Any) -> Any:
        """Give each document's topic proportions; of a Dask collection when they are asked for.

        Parameters
        ----------
        X : documents
            As for `fit`.

        Returns
        -------
        dask array, Delayed, or array, (D, K)
            A dask array for a Bag, an array or a list of Delayed, in the same parts; a Delayed for
            a Delayed; for documents of this process the proportions themselves.
        """
        if not _is_lazy(X):
            return super().transform(X)
        delayed = require("dask", "dask", _PURPOSE).delayed
        model = self.client_.scatter(self.to_local().set_params(n_jobs=1), broadcast=True)
        found = [delayed(_proportions)(model, part) for part in _parts(X)]
        if _is_delayed(X):
            return found[0]
        array = require("dask.array", "dask", _PURPOSE)
        rows = X.chunks[0] if hasattr(X, "chunks") else [np.nan] * len(found)
        n_topics = self.fitted_.n_topics
        return array.concatenate(
            [
                array.from_delayed(part, (n_rows, n_topics), float)
                for part, n_rows in zip(found, rows, strict=True)
            ],
            allow_unknown_chunksizes=True,
        )

    def to_local(self) -> TopicVec:
        """Give a plain TopicVec with the same topics, which needs no cluster.

        Returns
        -------
        TopicVec
        """
        names = TopicVec._defaults()
        model = TopicVec(**{name: getattr(self, name) for name in names})
        model._adopt(self.fitted_)
        if hasattr(self, "doc_topic_"):
            model.doc_topic_ = self.doc_topic_
        return model

    def _engine(self) -> Engine:
        return resolve_engine(self.client_)

    def _read(self, X: Any, again: bool = False) -> AnyReading:
        return super()._read(self._here(X), again)

    def _count(self, X: Any) -> Bag:
        return super()._count(self._here(X))

    def _here(self, X: Any) -> Any:
        """Bring documents here, cut into words or counted by the workers."""
        if not _is_lazy(X):
            return X
        delayed = require("dask", "dask", _PURPOSE).delayed
        parts = [delayed(_read_part)(self.tokenizer, part) for part in _parts(X)]
        found = self.client_.gather(self.client_.compute(parts))
        if all(map(is_matrix, found)):
            return csr_array(vstack(found, format="csr"))
        return list(chain.from_iterable(found))

    def _value(self, value: Any) -> Any:
        """Compute what Dask has not computed yet."""
        if value is None or not _is_lazy(value):
            return value
        return self.client_.compute(value).result()


def _is_lazy(X: Any) -> bool:
    """Say whether this is a collection of Dask, or a list of them."""
    first = X[0] if isinstance(X, list | tuple) and len(X) else X
    return hasattr(first, "__dask_graph__")


def _is_delayed(X: Any) -> bool:
    kinds = {(kind.__module__, kind.__name__) for kind in type(X).__mro__}
    return ("dask.delayed", "Delayed") in kinds  # which has any attribute that it is asked for


def _is_stream(X: Any) -> bool:
    is_whole = hasattr(X, "shape") or isinstance(X, PreparedCorpus | PathLike)
    return not (_is_lazy(X) or is_whole)


def _parts(X: Any) -> Sequence[Any]:
    """Give the parts of a collection, each a Delayed with some documents."""
    if isinstance(X, list | tuple):
        return X
    if _is_delayed(X):
        return [X]
    if hasattr(X, "rechunk"):  # a document's row is in one block
        X = X.rechunk({1: -1})
    return list(np.ravel(X.to_delayed()))


def _read_part(tokenizer: Callable[[str], list[str]] | None, part: Any) -> Any:
    """Cut the documents of a part into words; make its counts sparse."""
    if is_matrix(part):
        return csr_array(part)
    counter = DocumentCounter(tokenizer, None)
    return [counter.tokens(document) for document in _documents(part)]


def _proportions(model: TopicVec, part: Any) -> Floats:
    """Find the mixtures of the documents of a part, which may be empty."""
    documents: Any = part if is_matrix(part) else _documents(part)
    if (documents.shape[0] if is_matrix(documents) else len(documents)) == 0:
        return np.empty((0, model.fitted_.n_topics))
    return np.asarray(model.transform(documents))


def _documents(part: Iterable[Any]) -> list[Any]:
    return [part] if isinstance(part, str) else list(part)

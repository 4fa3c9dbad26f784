"""Texts that are part of the package; no network is needed."""

from importlib.resources import as_file, files

from topicvec.text import Document, read_documents

__all__ = ["sample_article", "sample_corpus"]


def sample_article() -> str:
    """Return the bundled article: a thousand words on a coastal town and its water.

    Examples
    --------
    >>> len(sample_article().split()) > 900
    True
    """
    return (files("topicvec") / "samples" / "article.txt").read_text(encoding="utf-8")


def sample_corpus() -> list[Document]:
    """Return the bundled corpus: 96 short documents in eight classes.

    Examples
    --------
    >>> documents = sample_corpus()
    >>> len(documents), len({document.label for document in documents})
    (96, 8)
    """
    with as_file(files("topicvec") / "samples" / "corpus.jsonl") as path:
        return list(
            read_documents(
                path, text_column="text", id_column="id", label_column="label", time_column="time"
            )
        )

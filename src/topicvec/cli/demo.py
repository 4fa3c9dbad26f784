"""``topicvec demo``: the main job on the bundled texts, with the embedded vectors."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["demo"]


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the pages.")] = Path(
        "demo"
    ),
) -> None:
    """Show the topics of a bundled article and of a small bundled corpus.

    Example: topicvec demo
    """
    from topicvec import datasets
    from topicvec.cli.render import show_text
    from topicvec.cli.topics import show_topics
    from topicvec.explore import Collection, write_report
    from topicvec.model import TopicVec

    article = datasets.sample_article()
    one = TopicVec(n_topics=12, random_state=0).fit([article])
    show_topics(one, title="Topics of one article of a thousand words")
    documents = datasets.sample_corpus()
    many = TopicVec(n_topics=16, random_state=0).fit(documents)
    show_topics(many, title="Topics of a small corpus: 96 documents on eight subjects")
    pages = [
        write_report(output / "article.html", Collection.build(one, [article], "One article")),
        write_report(output / "corpus.html", Collection.build(many, documents, "A small corpus")),
    ]
    show_text("Pages with a map, the words, and the texts in colour:")
    for page in pages:
        show_text(f"  {page.resolve().as_uri()}")

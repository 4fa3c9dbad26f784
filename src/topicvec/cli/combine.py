"""``topicvec combine``: models of separate batches become one."""

from pathlib import Path
from typing import Annotated

from topicvec.cli import options as opts
from topicvec.cli import render

__all__ = ["combine"]


def combine(
    models: Annotated[
        list[Path], opts.argument("Models that topicvec fit wrote.", metavar="MODEL...")
    ],
    output: opts.Output,
    min_similarity: Annotated[
        float, opts.flag("--min-similarity", "Topics that are less alike stay apart; 0 to 1.")
    ] = 0.5,
    json: opts.Json = False,
) -> None:
    """Put models of separate batches together; topics that match become one.

    The table says from which models each topic comes, and its number there.

    Example: topicvec combine monday.topicvec tuesday.topicvec -o week.topicvec
    """
    from topicvec.cli import fitting
    from topicvec.model import TopicVec, bundle

    opts.check_writable(output)
    parts = [fitting.load_model(path) for path in models]
    model = TopicVec.combine(parts, min_similarity=min_similarity)
    names: dict[str, str] = {}
    start = 0
    for path, part in zip(models, parts, strict=True):
        given = bundle.read(path).extra.get("names", {})
        names |= {str(start + int(row)): name for row, name in given.items()}
        start += part.fitted_.n_documents
    model.save(output, extra={"names": names})
    rows = [
        {
            "topic": topic.index,
            "label": topic.title,
            "share": f"{topic.share:.1%}",
            "from": ", ".join(f"{models[i].name} {k}" for i, k in model.sources_[topic.index]),
        }
        for topic in model.topics_
        if not topic.is_null
    ]
    if json:
        render.show_json({"topics": rows})
    else:
        render.show_table(rows, wide=["from"])
    n_parts = sum(part.n_topics_ for part in parts)
    render.note(f"{output}: {model.n_topics_} topics of {n_parts} in {len(parts)} models")

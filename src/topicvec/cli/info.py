"""``topicvec info``: what is in a model file."""

from collections.abc import Mapping
from typing import Any

from topicvec.cli.options import Json, ModelFile

__all__ = ["info"]


def info(model: ModelFile, json: Json = False) -> None:
    """Tell what is in a model file and how it was made.

    Example: topicvec info corpus.topicvec
    """
    from topicvec.cli.render import show_json, show_table
    from topicvec.model import bundle

    found = bundle.read(model)
    facts = _facts(found.card)
    if json:
        show_json(facts)
        return
    rows = [{"": name, "value": _line(value)} for name, value in facts.items()]
    show_table(rows, wide=["value"])


def _facts(card: Mapping[str, Any]) -> dict[str, Any]:
    settings, vectors = card["settings"], card["vectors"]
    bounds = settings.get("bounds") or []
    return {
        "topics": card["n_topics"],
        "documents": card["n_documents"],
        "classes": sorted({name for name in card["classes"] if name is not None}),
        "labels": [label for label in card["labels"] if label is not None],
        "iterations": settings.get("n_iter"),
        "converged": settings.get("converged"),
        "interrupted": settings.get("interrupted"),
        "bound": bounds[-1] if bounds else None,
        "longest topic vector": card["max_norm"],
        "word vectors": f"{vectors['n_words']:,} words × {vectors['n_dims']} dimensions",
        "vectors in the file": vectors["embedded"],
        "vectors' hash": vectors["content_hash"],
        "classifier": "classifier" in card["extra"],
        "parameters": settings.get("params") or {},
        "unknown words": dict(list((settings.get("unknown_words") or {}).items())[:20]),
        "versions": card["versions"],
    }


def _line(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {each}" for name, each in value.items()) or None
    if isinstance(value, list):
        return ", ".join(map(str, value)) or None
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"

"""The report: the pages of the explorer and a sample of the documents in one HTML file.

It works from disk and asks nothing of anyone: style, script and records are part of the file, and
its content-security policy allows nothing else.
"""

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from topicvec.errors import require
from topicvec.explore.collection import Collection
from topicvec.explore.records import TopicPage
from topicvec.explore.views import cloud_of, text_part
from topicvec.files import atomic_write

__all__ = ["render_report", "write_report"]

Advance = Callable[[int, int], object] | None

_MOST_CHARACTERS = 4000  # of a text
_FEWEST, _MOST = 2, 10  # documents of a topic
_SIMILAR = 40  # similar documents to look at; those in the sample are kept
_STYLES = ("base.css", "parts.css", "views.css")
_FIRST_SCRIPT = "report.js"
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function |const |let |class )", re.MULTILINE)


def render_report(
    collection: Collection, *, n_documents: int = 300, advance: Advance = None
) -> str:
    """Give the HTML of a report.

    Parameters
    ----------
    collection : Collection
        What is shown.
    n_documents : int
        How many documents the report holds at most.
    advance : callable, optional
        Told how many documents are done, and of how many.

    Returns
    -------
    str
        A whole page.

    Examples
    --------
    >>> from topicvec import TopicVec
    >>> text = "Salt water. Sea salt, water."
    >>> model = TopicVec(n_topics=2, random_state=0).fit([text])
    >>> render_report(Collection.build(model, [text], "Sea"))[:15]
    '<!doctype html>'
    """
    jinja2 = require("jinja2", "explore", "making a report")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    taken = _sample(collection, n_documents, advance)
    style = "".join(map(_static, _STYLES))
    script = bundle(_FIRST_SCRIPT)
    template = environment.from_string(_static("report.html", "templates"))
    policy = _policy(style, script)
    html: str = template.render(
        overview=taken["overview"], records=_json(taken), style=style, script=script, policy=policy
    )
    return html


def write_report(path: str | Path, collection: Collection, **options: Any) -> Path:
    """Write a report to a file and return its path; parameters as for `render_report`."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    page = render_report(collection, **options).encode("utf-8", "surrogatepass")
    with atomic_write(path) as part:
        part.write_bytes(page)
    return path


def _sample(collection: Collection, n_documents: int, advance: Advance) -> dict[str, Any]:
    """Take all topics, and of each the documents with the largest part of it.

    Topics and documents are by their numbers; where a record has documents, here are numbers.
    """
    topics = collection.topics
    per_topic = min(max(n_documents // len(topics), _FEWEST), _MOST)
    pages = {topic.index: collection.topic(topic.index, per_topic) for topic in topics}
    rows = _rows(collection, list(pages.values()), n_documents)
    some = len(rows) < len(collection.documents)
    note = f"{len(rows):,} of the documents are in this report" if some else ""
    documents = {}
    for done, row in enumerate(sorted(rows), 1):
        documents[row] = _document(collection, row, rows)
        if advance is not None:
            advance(done, len(rows))
    return {
        "overview": replace(collection.overview, note=note),
        "topics": {index: _topic(found, rows) for index, found in pages.items()},
        "documents": documents,
        "clouds": {"all": cloud_of(topics)}
        | {str(topic.index): cloud_of((topic,)) for topic in topics if topic.words},
    }


def _rows(collection: Collection, pages: list[TopicPage], n_documents: int) -> set[int]:
    """Choose documents: the first of every topic, then the second, and so on."""
    lists = [[card.index for card in page.documents] for page in pages]
    ranked = chain.from_iterable(zip_longest(*lists))
    chosen = list(dict.fromkeys(row for row in ranked if row is not None))
    rest = range(0, len(collection.documents), max(len(collection.documents) // n_documents, 1))
    return set(list(dict.fromkeys([*chosen, *rest]))[:n_documents])


def _topic(found: TopicPage, rows: set[int]) -> dict[str, Any]:
    return {
        "index": found.topic.index,
        "frequencies": found.frequencies,
        "n_main": found.n_main,
        "similar": found.similar,
        "labels": found.labels,
        "documents": [card.index for card in found.documents if card.index in rows],
    }


def _document(collection: Collection, row: int, rows: set[int]) -> dict[str, Any]:
    whole = collection.document(row, n_similar=0)
    part = text_part(whole.view.spans, 0, _MOST_CHARACTERS)
    near = [hit for hit in collection.like(row, _SIMILAR) if hit.index in rows]
    view = replace(whole.view, spans=part.spans, next=None)
    short = replace(whole, view=view, similar=(), cut=part.next is not None)
    return vars(short) | {
        "similar": [(hit.index, round(hit.score, 3)) for hit in near[:4]],
        "snippet": collection.card(row).snippet,
    }


def bundle(name: str) -> str:
    """Put a module and all it imports into one script, each before its users.

    The modules keep to two forms, ``import { … } from "./name.js"`` and ``export`` before a
    declaration, and no two declare the same name, so taking these words away is enough.

    Examples
    --------
    >>> "import " in bundle("route.js")
    False
    """
    done: list[str] = []
    return "\n".join(_modules(name, done))


def _modules(name: str, done: list[str]) -> list[str]:
    if name in done:
        return []
    done.append(name)
    source = _static(name)
    parts = [part for used in _IMPORT.findall(source) for part in _modules(used, done)]
    return [*parts, _EXPORT.sub("", _IMPORT.sub("", source))]


def _static(name: str, folder: str = "static") -> str:
    return (files("topicvec.explore") / folder / name).read_text(encoding="utf-8")


def _json(taken: dict[str, Any]) -> str:
    # no "<" can end the element that holds the records, and no surrogate spoils the encoding
    text = json.dumps(
        taken, separators=(",", ":"), allow_nan=False, ensure_ascii=False, default=vars
    )
    text = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    digest: Any = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"

"""One self-contained page: no script, no request to anywhere."""

from dataclasses import asdict
from importlib.resources import files
from pathlib import Path

from topicvec.errors import require
from topicvec.explore.prepare import PageData

__all__ = ["render_page", "write_page"]


def render_page(*parts: PageData) -> str:
    """Give the HTML of a page that shows one or more models, one below the other."""
    jinja2 = require("jinja2", "explore", "making a page")
    folder = files("topicvec.explore") / "templates"
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string((folder / "page.html").read_text(encoding="utf-8"))
    style = (folder / "page.css").read_text(encoding="utf-8")
    html: str = template.render(parts=[asdict(part) for part in parts], style=style)
    return html


def write_page(path: str | Path, *parts: PageData) -> Path:
    """Write the page to a file and return its path."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_page(*parts), encoding="utf-8")
    return path

"""Pages of the Python names, made from their docstrings; `make_reference.py` writes them."""

import importlib
import inspect
import re
from typing import Any, get_args, get_origin

PACKAGES = {  # in the order of a reader: what is imported most comes first
    "topicvec": "What most programs need, by its short name",
    "topicvec.model": "Topics: learning, reading, changing and saving them",
    "topicvec.represent": "Using topics: documents as vectors, search, time, classes, summaries",
    "topicvec.pictures": "Pictures of topics and documents",
    "topicvec.measure": "Measures of topics and of word vectors",
    "topicvec.text": "Reading texts, words, vocabularies and counts",
    "topicvec.embed": "Word vectors: loading, training, searching",
    "topicvec.datasets": "Bundled texts and the paper's corpora",
    "topicvec.explore": "The report and the explorer",
    "topicvec.engine": "What spreads the work",
    "topicvec.errors": "Errors and warnings",
}
_HEAD = "Made from docstrings by `scripts/make_reference.py`.\n"
_ENTRIES = {"Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns"}
_LAMBDA = re.compile(r"<function \S*<lambda>\S* at 0x[0-9a-f]+>")
_OBJECT = re.compile(r"<(?:class|function) '?([^ >']*)'?(?: at 0x[0-9a-f]+)?>")
_SECTION = re.compile(r"^(?P<name>[A-Z][A-Za-z ]+)\n-{3,}$", re.MULTILINE)


def pages() -> dict[str, str]:
    """Give the text of each page by its name."""
    made = {f"{short(name)}.md": page(name) for name in PACKAGES}
    return {"index.md": index(), **made}


def short(package: str) -> str:
    return package.rpartition(".")[2]


def index() -> str:
    lines = [
        f"- [`{name}`]({short(name)}.md): {about}; "
        + ", ".join(f"[`{each}`]({short(name)}.md#{anchor(each)})" for each in public(name))
        for name, about in PACKAGES.items()
    ]
    return f"# Python names\n\n{_HEAD}\n" + "\n".join(lines) + "\n"


def anchor(name: str) -> str:
    return name.lower()


def public(package: str) -> list[str]:
    module = importlib.import_module(package)
    names = [name for name in module.__all__ if not name.startswith("__")]
    return sorted(names, key=lambda name: (name.islower(), name.lower()))


def page(package: str) -> str:
    module = importlib.import_module(package)
    about = plain(inspect.getdoc(module) or "")
    parts = [f"# {package}\n\n{_HEAD}\n{about}\n"]
    parts += [entry(name, getattr(module, name), package) for name in public(package)]
    return "\n".join(parts)


def entry(name: str, value: Any, package: str) -> str:
    if inspect.ismodule(value):
        return f"## {name}\n\nThe module [`{value.__name__}`]({short(value.__name__)}.md).\n"
    home = next((each for each in PACKAGES if is_elsewhere(each, name, value)), package)
    if package != "topicvec" and home != package and home != "topicvec":
        return f"## {name}\n\nSee [`{home}.{name}`]({short(home)}.md#{anchor(name)}).\n"
    if package != "topicvec" and home == "topicvec":
        return f"## {name}\n\nSee [`topicvec.{name}`](topicvec.md#{anchor(name)}).\n"
    if inspect.isclass(value):
        return "\n".join([described(f"## {name}", name, value), *methods(name, value)])
    if callable(value) and not get_origin(value):
        return described(f"## {name}", name, value)
    return f"## {name}\n\n{constant(value)}\n"


def is_elsewhere(package: str, name: str, value: Any) -> bool:
    module = importlib.import_module(package)
    return name in module.__all__ and getattr(module, name) is value


def constant(value: Any) -> str:
    choices = get_args(value)
    if choices and all(isinstance(each, str) for each in choices):
        return f"One of {', '.join(f'`{each!r}`' for each in choices)}."
    return f"`{value!r}`" if not hasattr(value, "__len__") or len(str(value)) < 200 else "A table."


def methods(owner: str, value: type) -> list[str]:
    found = []
    for name in dir(value):
        raw = inspect.getattr_static(value, name)
        if name.startswith("_") or not ours(value, name) or not inspect.getdoc(raw_of(raw)):
            continue
        if isinstance(raw, property) or not callable(raw_of(raw)):
            about = plain(inspect.getdoc(raw_of(raw)) or "").partition("\n\n")[0]
            if not is_field(raw):
                found.append(f"### {owner}.{name}\n\n{about}\n")
        else:
            found.append(described(f"### {owner}.{name}", name, getattr(value, name)))
    return found


def raw_of(raw: Any) -> Any:
    if isinstance(raw, staticmethod | classmethod):
        return raw.__func__
    return raw


def is_field(raw: Any) -> bool:
    return type(raw).__name__ in ("_tuplegetter", "member_descriptor")


def ours(value: type, name: str) -> bool:
    owner = next(each for each in value.__mro__ if name in vars(each))
    return owner.__module__.partition(".")[0] == "topicvec"


def described(heading: str, name: str, value: Any) -> str:
    return f"{heading}\n\n```text\n{signature(name, value)}\n```\n\n{document(value)}"


def signature(name: str, value: Any) -> str:
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    given = [each for each in found.parameters.values() if each.name not in ("self", "cls")]
    bare = [each.replace(annotation=inspect.Parameter.empty) for each in given]
    text = str(found.replace(parameters=bare, return_annotation=inspect.Signature.empty))
    text = _LAMBDA.sub("a function", text)
    return name + _OBJECT.sub(r"\1", text)


def document(value: Any) -> str:
    """Turn a numpydoc docstring into Markdown."""
    text = inspect.getdoc(value) or ""
    pieces = _SECTION.split(text)
    made = [plain(pieces[0].strip())]
    for name, body in zip(pieces[1::2], pieces[2::2], strict=True):
        body = body.strip("\n")
        if name == "Examples":
            made.append(f"```pycon\n{inspect.cleandoc(body)}\n```")
        elif name in _ENTRIES:
            made.append(f"**{name}**\n\n{entries(body)}")
        else:
            made.append(f"**{name}**\n\n{plain(body)}")
    return "\n\n".join(made) + "\n"


def entries(body: str) -> str:
    items: list[list[str]] = []
    for line in body.splitlines():
        if line and not line.startswith(" "):
            items.append([line])
        elif items:
            items[-1].append(line.strip())
    return "\n".join(item(head, " ".join(rest).strip()) for head, *rest in items)


def item(head: str, about: str) -> str:
    name, colon, kind = head.partition(" : ")
    title = f"**`{name}`** ({plain(kind)})" if colon else f"**`{head}`**"
    return f"- {title}: {plain(about)}" if about else f"- {title}"


def plain(text: str) -> str:
    """Make Markdown of what reStructuredText the docstrings have."""
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text)
    text = text.replace("::\n\n    ", "\n\n    ")
    return re.sub(r"``([^`]+)``", r"`\1`", text)

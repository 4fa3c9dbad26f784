"""``topicvec info``, ``show``, ``over-time``, ``by-class``: a model, a topic, and where it is."""

from collections.abc import Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Any

from topicvec.cli import options as opts
from topicvec.cli import render
from topicvec.errors import DataError

if TYPE_CHECKING:
    from topicvec.model import Topic, TopicVec
    from topicvec.represent import Course

__all__ = ["by_class", "info", "over_time", "show"]

_SHOWN = 0.01  # share of a topic in a class or document
_BARS = "▁▂▃▄▅▆▇█"
_Documents = Annotated[
    opts.SourceTexts | None,
    opts.argument("Files or folders whose documents to list; those of the fit by default."),
]


def info(model: opts.ModelFile, json: opts.Json = False) -> None:
    """Tell what is in a model file and how it was made.

    Example: topicvec info corpus.topicvec
    """
    from topicvec.model import bundle

    facts = _card_facts(bundle.read(model).card)
    if json:
        render.show_json(facts)
    else:
        render.show_facts({name: _line(value) for name, value in facts.items()})


def _card_facts(card: Mapping[str, Any]) -> dict[str, Any]:
    settings, vectors = card["settings"], card["vectors"]
    bounds = settings.get("bounds") or []
    return {
        "topics": card["n_topics"] - 1,
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


@opts.reads_texts
def show(
    model: opts.ModelFile,
    topic: Annotated[int, opts.argument("Number of the topic.")],
    texts: _Documents = None,
    n: Annotated[int, opts.flag("-n", "Words, topics and documents to list.")] = 10,
    json: opts.Json = False,
) -> None:
    """Show one topic: its words, the nearest words, similar topics and its documents.

    Example: topicvec show corpus.topicvec 3
    """
    from topicvec.cli import fitting
    from topicvec.model import bundle

    fitted = fitting.load_model(model)
    found = _find(fitted, topic, n)
    if texts:
        documents = texts.read()
        shares = fitted.transform(documents)[:, topic]
        order = (-shares).argsort(kind="stable")[:n]
        best = [(documents[row].id, float(shares[row])) for row in order]
    else:  # those of the fit, by the names that it kept
        names = bundle.read(model).extra.get("names", {})
        best = [(names.get(str(row), f"row {row}"), share) for row, share in found.documents[:n]]
    facts = _topic_facts(fitted, found, n)
    facts["documents"] = [{"id": name, "share": share} for name, share in best]
    if json:
        render.show_json(facts)
    else:
        _print(facts)


def _find(model: "TopicVec", index: int, n: int) -> "Topic":
    from topicvec.model import read_topics

    n_topics = model.fitted_.n_topics
    if not 0 <= index < n_topics:
        raise DataError(f"the model has topics 0 to {n_topics - 1}; found {index}")
    topics = read_topics(model.fitted_, n_words=n, n_nearest=n, min_mass=0)
    return next(each for each in topics if each.index == index)


def _topic_facts(model: "TopicVec", topic: "Topic", n: int) -> dict[str, Any]:
    from topicvec.represent.topics import nearest_topics

    titles = {each.index: each.title for each in model.topics_}
    return {
        "index": topic.index,
        "title": topic.title,
        "label": topic.label,
        "class": topic.class_,
        "share": topic.share,
        "norm": topic.norm,
        "words": [{"word": word, "relevance": value} for word, value in topic.words],
        "nearest_words": [{"word": word, "cosine": value} for word, value in topic.nearest],
        "similar_topics": [
            {"index": index, "title": titles.get(index, f"topic {index}"), "cosine": cosine}
            for index, cosine in nearest_topics(model, topic.index, n)
        ],
    }


def _print(facts: dict[str, Any]) -> None:
    of_class = f", class {facts['class']}" if facts["class"] else ""
    render.show_text(f"Topic {facts['index']}: {facts['title']} ({facts['share']:.1%}{of_class})")
    pairs = zip_longest(facts["words"], facts["nearest_words"])
    render.show_table(
        [
            {
                "words of the corpus": own and own["word"],
                "relevance": own and own["relevance"],
                "nearest words of the vectors": near and near["word"],
                "cosine": near and near["cosine"],
            }
            for own, near in pairs
        ]
    )
    render.show_table(
        [
            {"topic": each["index"], "label": each["title"], "cosine": each["cosine"]}
            for each in facts["similar_topics"]
        ],
        title="Similar topics",
    )
    rows = [{"id": each["id"], "share": f"{each['share']:.1%}"}
            for each in facts["documents"] if each["share"] >= _SHOWN]  # fmt: skip
    render.show_table(rows, title="Documents")


@opts.reads_texts
def over_time(
    model: opts.ModelFile,
    texts: opts.Texts,
    topic: Annotated[
        int | None, opts.flag("--topic", "Only this topic, with its words in each span.", min=1)
    ] = None,
    bins: Annotated[int | None, opts.flag("--bins", "Spans of time.", min=1)] = None,
    words: Annotated[int, opts.flag("--words", "Words of each span at most.", min=0)] = 8,
    json: opts.Json = False,
    csv: opts.Csv = False,
) -> None:
    """Follow topics through time: their shares, the words that rise, when they come and go.

    A topic is born in the first span in which it has a quarter of an even share, and dies in the
    last, if the documents before or afterwards have less of it than chance would give them.

    Example: topicvec over-time corpus.topicvec corpus.csv --time-column date --topic 3
    """
    from topicvec.cli import fitting
    from topicvec.represent import topics_over_time

    fitted = fitting.load_model(model)
    found = topics_over_time(fitted, texts.read(), n_bins=bins, n_words=words)
    chosen = [course for course in found if topic in (None, course.topic.index)]
    if not chosen:
        numbers = ", ".join(str(course.topic.index) for course in found)
        raise DataError(f"--topic must be one of {numbers}; found {topic}")
    if json:
        render.show_json({"topics": [_course_facts(course) for course in chosen]})
    elif csv:
        render.show_csv([row for course in chosen for row in _course_rows(course)])
    elif topic is None:
        _print_courses(chosen)
    else:
        _print_course(chosen[0])


def _course_facts(course: "Course") -> dict[str, Any]:
    spans = [
        span._asdict() | {"words": [rise._asdict() for rise in span.words]} for span in course.spans
    ]
    facts = {"index": course.topic.index, "title": course.topic.title}
    return facts | {"born": _name(course, "born"), "died": _name(course, "died"), "spans": spans}


def _course_rows(course: "Course") -> list[dict[str, Any]]:
    topic = course.topic
    return [
        {
            "topic": topic.index,
            "label": topic.title,
            "from": span.name,
            "documents": span.n_documents,
            "share": span.share if span.n_documents else None,
            "words": " ".join(rise.word for rise in span.words),
        }
        for span in course.spans
    ]


def _name(course: "Course", event: str) -> str | None:
    """Name the span of a birth or a death."""
    place = getattr(course, event)
    return None if place is None else course.spans[place].name


def _print_courses(courses: "list[Course]") -> None:
    first, last = courses[0].spans[0].name, courses[0].spans[-1].name
    rows = [
        {
            "topic": course.topic.index,
            "label": course.topic.title,
            f"{first} … {last}": _bars(course),
            "peak": f"{max(span.share for span in course.spans):.1%}",
            "born": _name(course, "born"),
            "dies": _name(course, "died"),
        }
        for course in courses
    ]
    render.show_table(rows, title="Topics over time", wide=["label"])


def _bars(course: "Course") -> str:
    """Draw shares as bars of text, the highest for the topic's own peak; blank where none are."""
    top = max(span.share for span in course.spans) or 1.0
    return "".join(
        _BARS[round(span.share / top * (len(_BARS) - 1))] if span.n_documents else " "
        for span in course.spans
    )


def _print_course(course: "Course") -> None:
    events = [f"born {_name(course, 'born')}"] if course.born is not None else []
    events += [f"last seen {_name(course, 'died')}"] if course.died is not None else []
    head = f"Topic {course.topic.index}: {course.topic.title}"
    render.show_text(", ".join([head, *events]))
    rows = [
        {
            "from": span.name,
            "documents": span.n_documents,
            "share": f"{span.share:.1%}" if span.n_documents else None,
            "words that rise": ", ".join(rise.word for rise in span.words),
        }
        for span in course.spans
    ]
    render.show_table(rows, wide=["words that rise"])


@opts.reads_texts
def by_class(
    model: opts.ModelFile,
    texts: opts.Texts,
    n: Annotated[int, opts.flag("-n", "Topics of each class to list.", min=1)] = 5,
    json: opts.Json = False,
    csv: opts.Csv = False,
) -> None:
    """Tell which topics the documents of each class have: sub-folders, or a column of a table.

    The table has the largest topics of each class; --json and --csv have them all.

    Example: topicvec by-class corpus.topicvec corpus.csv --label-column section
    """
    from topicvec.cli import fitting
    from topicvec.represent.topics import topics_per_class

    fitted = fitting.load_model(model)
    documents = texts.read()
    found = topics_per_class(fitted, documents, fitting.labels_of(documents))
    titles = {topic.index: topic.title for topic in found.topics}
    rows: list[dict[str, Any]] = [
        {
            "class": name,
            "documents": int(size),
            "topics": sorted(
                ({"topic": k, "label": title, "share": float(shares[k])}
                 for k, title in titles.items()),
                key=lambda each: -each["share"],
            ),
        }
        for name, shares, size in zip(found.names, found.shares, found.n_documents, strict=True)
    ]  # fmt: skip
    if json:
        render.show_json({"classes": rows})
    elif csv:
        flat = [{**row, **each} for row in rows for each in row["topics"]]
        columns = ("class", "documents", "topic", "label", "share")
        render.show_csv([{name: row[name] for name in columns} for row in flat])
    else:
        shown = [{**row, "topics": _largest(row["topics"][:n])} for row in rows]
        render.show_table(shown, title="Topics by class", wide=["topics"])


def _largest(topics: list[dict[str, Any]]) -> str:
    """Name topics with their shares, those of less than a hundredth left out."""
    shown = [each for each in topics if each["share"] >= _SHOWN]
    return "; ".join(f"{each['share']:.0%} {each['label']} ({each['topic']})" for each in shown)

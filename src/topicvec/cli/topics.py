"""``topicvec topics``, ``prepare``, ``fit``, ``choose`` and ``demo``: find topics, keep them."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from topicvec.cli import options as opts
from topicvec.cli import render
from topicvec.errors import DataError

if TYPE_CHECKING:
    from topicvec.model import Topic, TopicVec
    from topicvec.model.fitted import FittedTopics
    from topicvec.text import Document

__all__ = ["choose", "demo", "fit", "list_topics", "prepare", "topics"]

_SHOWN = 0.0005  # share of the null topic; less is none
_NAMED = 10  # topics of the background that are named

_Corpus = Annotated[Path, opts.flag("--output", "-o", "Folder for the corpus.")]
_Folder = Annotated[Path, opts.flag("--output", "-o", "Folder for the pages.")]


@opts.reads_texts
def topics(
    texts: opts.Texts,
    learning: opts.Learning,
    model: opts.ModelOption = None,
    words: Annotated[int, opts.flag("--words", "Words to show of each topic.")] = 10,
    page: Annotated[Path | None, opts.flag("--page", "Also write an HTML report.")] = None,
    json: opts.Json = False,
    csv: opts.Csv = False,
) -> None:
    """Find and print the topics of the given text, or list those of a saved model.

    A source that is a saved model, whatever its name, is not read as text: its topics are listed,
    by class if it has classes. With --model they are a model's topics, as they are in the text.

    Example: topicvec topics article.txt -k 10
    """
    from topicvec.errors import require

    if page is not None:
        require("jinja2", "explore", "making a page")  # said before the work, not after it
    if _is_saved(texts.sources, page):
        opts.refuse_learning(learning)
        opts.refuse_reading(texts.options)
        from topicvec.cli import fitting

        listed = fitting.load_model(Path(texts.sources[0])).fitted_
        list_topics(listed, words, json=json, csv=csv)
        return
    documents, found = _read_topics(texts, learning, model)
    listed = found.fitted_ if model is None else _as_in(found, documents)
    mixtures = found.doc_topic_ if model is None else found.transform(documents)
    pairs = zip(documents, mixtures.tolist(), strict=True)
    facts = {"documents": [{"id": document.id, "proportions": row} for document, row in pairs]}
    list_topics(listed, words, facts, json=json, csv=csv)
    if page is not None:
        _write_page(page, found, documents, texts.sources)
    if model is None:
        from topicvec.cli import fitting

        fitting.stop_if_interrupted(found)


def _is_saved(sources: list[str], page: Path | None) -> bool:
    """Say whether the source is a saved model, and refuse what does not go with one."""
    from topicvec.model import bundle

    saved = [source for source in sources if bundle.is_model(source)]
    if saved and len(sources) > 1:
        raise DataError(
            f"{saved[0]} is a saved model: list its topics alone, or give it with --model to see "
            "them in texts"
        )
    if saved and page is not None:
        raise DataError("--page needs texts: topicvec report MODEL SOURCES makes one")
    return bool(saved)


def _read_topics(
    texts: opts.SourceTexts, learning: dict[str, Any], model: Path | None
) -> "tuple[list[Document], TopicVec]":
    from topicvec.embed.load import load_vectors

    with ThreadPoolExecutor(1) as pool:
        pool.submit(load_vectors)  # beside the slow imports; they are kept
        from topicvec.cli import fitting
    return fitting.load_or_learn(model, texts, learning)


def _as_in(model: "TopicVec", documents: "list[Document]") -> "FittedTopics":
    from topicvec.pictures.seen import seen_in

    return seen_in(model, documents)


def _write_page(
    page: Path, model: "TopicVec", documents: "list[Document]", sources: list[str]
) -> None:
    from topicvec.explore import Collection, write_report

    write_report(page, Collection.build(model, documents, ", ".join(sources)))
    render.note(f"page written: {page}")


@opts.reads_texts
def fit(
    texts: opts.Texts,
    output: opts.Output,
    learning: opts.Learning,
    checkpoint: Annotated[
        Path | None, opts.flag("File to go on from if the fit is broken off.")
    ] = None,
    memory: opts.Memory = None,
) -> None:
    """Learn the topics of documents, write them to a model file, and list them.

    A folder that topicvec prepare wrote is not read into memory. Ctrl-C ends the fit early: the
    model so far is written, and the exit code is 130.

    Example: topicvec fit corpus/ -o corpus.topicvec -k 50
    """
    from topicvec.cli import fitting

    opts.check_writable(output)
    documents, model = fitting.learn(texts.source, learning, checkpoint, memory)
    with fitting.keeping(model):
        fitted = model.fitted_
        rows = sorted({row for best in fitted.representative for row, _ in best})
        if isinstance(documents, list):
            names = {row: documents[row].id for row in rows}
        else:
            names = documents.names(rows)
        model.save(output, extra={"names": {str(row): name for row, name in names.items()}})
        if not render.is_quiet():
            list_topics(fitted)
        bound = f", bound {model.bounds_[-1]:.4f}" if model.bounds_ else ""
        render.note(
            f"{output}: {model.n_topics_} topics of {fitted.n_documents:,} documents, "
            f"{model.n_iter_} iterations{bound}"
        )


@opts.reads_texts
def choose(
    texts: opts.Texts,
    reading: opts.Words,
    numbers: Annotated[
        str, opts.flag("-k", "Numbers of topics to try.", metavar="NUMBER,NUMBER,...")
    ] = "5,10,20,40",
    held_out: Annotated[float, opts.flag("--held-out", "Part of the words to test on.")] = 0.2,
    seed: opts.Seed = 0,
    settings: opts.Settings = None,
    jobs: opts.Jobs = None,
    json: opts.Json = False,
    csv: opts.Csv = False,
) -> None:
    """Try numbers of topics; the best foretells words that were held out of the documents.

    The score is the mean logarithm of the probability of a held-out word.

    Example: topicvec choose corpus/ -k 10,20,40
    """
    from topicvec.model import TopicVec, choose_n_topics

    tried = [opts.number_of_topics(number) for number in numbers.split(",")]
    if "auto" in tried:
        raise DataError("-k takes the numbers to try, such as 5,10,20; found auto, which is fit's")
    params = {**reading, **opts.read_settings(settings), "random_state": seed, "n_jobs": jobs}
    documents = texts.read()
    found = choose_n_topics(
        documents, sorted({int(each) for each in tried}), model=TopicVec(**params),
        held_out=held_out, random_state=seed,
    )  # fmt: skip
    rows = [
        {"topics": number, "score": score, "": "best" if number == found.best else ""}
        for number, score in found.scores.items()
    ]
    if json:
        scores = {str(number): score for number, score in found.scores.items()}
        render.show_json({"best": found.best, "scores": scores})
    elif csv:
        render.show_csv([{"topics": row["topics"], "score": row["score"]} for row in rows])
    else:
        render.show_table(rows, title="Held-out words by number of topics")
    if len(rows) > 1 and found.best in (rows[0]["topics"], rows[-1]["topics"]):
        where = "fewer" if found.best == rows[0]["topics"] else "more"
        render.note(f"the best is at the edge of what was tried: try {where} topics too")


@opts.reads_texts
def prepare(texts: opts.Texts, output: _Corpus, jobs: opts.Jobs = None) -> None:
    """Read a large corpus once, and keep its words as numbers in a folder of shards.

    fit, transform, search, similar and vectors train take the folder as their source; fit leaves
    it in its files, so that a corpus may be larger than memory. A run that was broken off goes on
    where it was when the command is given again.

    Example: topicvec prepare dump.jsonl.zst -o corpus/
    """
    from topicvec.text import prepare as write

    corpus = write(render.counted(texts), output, n_jobs=jobs)
    render.note(
        f"{output}: {len(corpus):,} documents, {corpus.n_tokens:,} words, "
        f"{corpus.n_words:,} different ones, {len(corpus.shards):,} shards"
    )


def demo(output: _Folder = Path("demo")) -> None:
    """Show the topics of a bundled article and of a small bundled corpus.

    Example: topicvec demo
    """
    from topicvec import datasets
    from topicvec.cli import fitting
    from topicvec.explore import Collection, write_report

    article = datasets.sample_article()
    one = fitting.fit_topics([article], random_state=0)
    list_topics(one.fitted_, title="Topics of one article of a thousand words")
    documents = datasets.sample_corpus()
    many = fitting.fit_topics(documents, random_state=0)
    list_topics(many.fitted_, title="Topics of a small corpus: 96 documents on eight subjects")
    pages = [
        write_report(output / "article.html", Collection.build(one, [article], "One article")),
        write_report(output / "corpus.html", Collection.build(many, documents, "A small corpus")),
    ]
    render.show_text("Pages with a map, the words, and the texts in colour:")
    for page in pages:
        render.show_text(f"  {page.resolve().as_uri()}")


def list_topics(
    fitted: "FittedTopics",
    n_words: int = 10,
    facts: dict[str, Any] | None = None,
    *,
    json: bool = False,
    csv: bool = False,
    title: str = "",
) -> None:
    """Print topics, of each class in turn, the largest first, background grey and behind them."""
    from topicvec.model import read_topics

    topics = read_topics(fitted, n_words=n_words, n_nearest=0)
    topics = tuple(sorted(topics, key=lambda topic: (topic.is_null, topic.class_ or "")))
    if json:
        render.show_json({"topics": [_facts(topic) for topic in topics], **(facts or {})})
    elif csv:
        render.show_csv([_row(topic, with_class=True, share=topic.share) for topic in topics])
    else:
        _show_table(topics, title)


def _facts(topic: "Topic") -> dict[str, Any]:
    return {
        "index": topic.index,
        "label": topic.label,
        "class": topic.class_,
        "share": topic.share,
        "is_background": topic.is_background,
        "is_null": topic.is_null,
        "words": [{"word": word, "relevance": value} for word, value in topic.words],
    }


def _row(topic: "Topic", *, with_class: bool, share: float | str) -> dict[str, Any]:
    of_class = {"class": topic.class_} if with_class else {}
    words = " ".join(word for word, _ in topic.words)
    return {"topic": topic.index, "label": topic.title, **of_class, "share": share, "words": words}


def _show_table(topics: "Sequence[Topic]", title: str) -> None:
    shown = [topic for topic in topics if not topic.is_null]
    by_class = any(topic.class_ for topic in shown)
    rows = [_row(topic, with_class=by_class, share=f"{topic.share:.1%}") for topic in shown]
    for row, topic in zip(rows, shown, strict=True):
        del row["words"]  # the first make the label, and are not said twice
        named = topic.title.split(", ")
        row["more words"] = " ".join(word for word, _ in topic.words if word not in named)
    faint = [place for place, topic in enumerate(shown) if topic.is_background]
    render.show_table(rows, title=title, wide=["more words"], faint=faint)
    if faint:
        render.show_text(_background([shown[place] for place in faint]))
    if topics[-1].share >= _SHOWN:
        render.show_text(f"null topic, words that belong nowhere: {topics[-1].share:.1%}")


def _background(topics: "Sequence[Topic]") -> str:
    """Say which topics are background, as not all that is read has colours."""
    numbers = ", ".join(str(topic.index) for topic in topics[:_NAMED])
    more = ", …" if len(topics) > _NAMED else ""
    share = sum(topic.share for topic in topics)
    kind = "topics" if len(topics) > 1 else "topic"
    return (
        f"background (grey), {share:.1%} of the words, which tell nothing: {kind} {numbers}{more}"
    )

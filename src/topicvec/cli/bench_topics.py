"""``topicvec bench topics``: the topics of several models, measured side by side."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicvec.cli.options import (
    Jobs,
    Json,
    Quiet,
    Reading,
    Seed,
    Sources,
    VectorsOption,
    with_reading,
)

if TYPE_CHECKING:
    from topicvec.embed import WordVectors
    from topicvec.evaluate.compare import PeerRun, SkippedPeer, TopicQuality
    from topicvec.text import Document

__all__ = ["topics"]

NUMBERS = (20, 50, 100)


@with_reading
def topics(
    sources: Sources,
    reading: Reading,
    numbers: Annotated[
        list[int] | None, typer.Option("-k", help="Number of topics; may be repeated: 20 50 100.")
    ] = None,
    models: Annotated[
        list[str] | None,
        typer.Option("--model", help="A model to compare; may be repeated, all by default."),
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(help="Files or folders of a second corpus to judge coherence by."),
    ] = None,
    min_documents: Annotated[
        int, typer.Option(help="Leave out words that fewer documents have.")
    ] = 5,
    min_letters: Annotated[int, typer.Option(help="Leave out shorter words.")] = 3,
    stop_words: Annotated[
        str, typer.Option(help="english, english-extended, sklearn, none or a file.")
    ] = "english-extended",
    vectors: VectorsOption = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    words: Annotated[int, typer.Option("--words", help="Also show so many words a topic.")] = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare the topics of TopicVec with those of other models.

    All models get the same tokens: words that have a vector, without stop words,
    rare words and short ones.
    A model that is not installed is left out, and the reason told.
    In place of a file, 20news or reuters names the training documents of that corpus.

    Example: topicvec bench topics posts.jsonl --label-column group -k 50 --model TopicVec
    """
    from topicvec.cli.render import progress
    from topicvec.embed import load_vectors
    from topicvec.evaluate.compare import SkippedPeer, score_runs

    known = load_vectors(vectors)
    tokens, classes = _prepare(
        reading, sources, known, stop_words=stop_words,
        min_documents=min_documents, min_letters=min_letters,
    )  # fmt: skip
    with progress(quiet=quiet) as advance:
        found = list(_run(tokens, known, numbers or NUMBERS, models, seed, jobs, advance))
        runs = [run for run in found if not isinstance(run, SkippedPeer)]
        second = None if reference is None else reading.documents(reference)
        scores = score_runs(
            runs, tokens, vectors=known, classes=classes, reference=second, n_jobs=jobs
        )
    skipped = [run for run in found if isinstance(run, SkippedPeer)]
    _show(runs, scores, skipped, words, json)


def _prepare(
    reading: Reading, sources: list[str], known: "WordVectors", **options: Any
) -> tuple[list[list[str]], list[str] | None]:
    """Cut the documents into tokens, drop empty ones, and give classes if all have one."""
    from topicvec.evaluate.compare import shared_tokens

    documents = list(_documents(reading, sources))
    tokens = shared_tokens((each.text for each in documents), known, **options)
    labels = [each.label for each, row in zip(documents, tokens, strict=True) if row]
    classes = [label for label in labels if label is not None]
    return [row for row in tokens if row], classes if len(classes) == len(labels) else None


def _documents(reading: Reading, sources: list[str]) -> "Iterable[Document]":
    """Read files, or the training documents of a corpus that is named in place of a file."""
    from topicvec.evaluate.table2 import CORPORA

    if len(sources) == 1 and sources[0] in CORPORA and not Path(sources[0]).exists():
        return CORPORA[sources[0]]("train").documents
    return reading.documents(sources)


def _run(
    tokens: list[list[str]],
    known: "WordVectors",
    numbers: Sequence[int],
    models: list[str] | None,
    seed: int,
    jobs: int | None,
    advance: Any,
) -> "Iterator[PeerRun | SkippedPeer]":
    from topicvec.evaluate.compare import run_peer
    from topicvec.evaluate.peers import PEERS, peer_name

    names = [peer_name(name) for name in models or PEERS]
    own = {"vectors": known, "n_jobs": jobs}
    for n_topics in numbers:
        for done, name in enumerate(names):
            advance(f"{n_topics} topics", done, len(names))
            settings = own if name == "TopicVec" else None
            yield run_peer(name, tokens, n_topics, random_state=seed, settings=settings)


def _show(
    runs: "Sequence[PeerRun]",
    scores: "Sequence[TopicQuality]",
    skipped: "Sequence[SkippedPeer]",
    n_words: int,
    json: bool,
) -> None:
    from topicvec.cli.render import note, show_json, show_table

    rows = [score.as_dict() for score in scores]
    if json:
        for row, run in zip(rows, runs, strict=True):
            row["topics"] = [list(words[: n_words or None]) for words in run.topics]
        show_json({"models": rows, "skipped": [vars(each) for each in skipped]})
        return
    empty = {name for name in rows[0] if all(row[name] is None for row in rows)}
    show_table([{_TITLES[k]: v for k, v in row.items() if k not in empty} for row in rows])
    for run in runs if n_words else ():
        lines = [{"words": " ".join(words[:n_words])} for words in run.topics]
        show_table(lines, title=f"{run.name}, {run.n_topics} topics", wide=["words"])
    for name, reason in dict.fromkeys((each.name, each.reason) for each in skipped):
        note(f"{name} left out: {reason}")


_TITLES = {
    "model": "model",
    "n_topics": "K",
    "n_found": "live",
    "npmi": "NPMI",
    "c_v": "C_V",
    "u_mass": "U_Mass",
    "reference_npmi": "ref. NPMI",
    "reference_c_v": "ref. C_V",
    "diversity": "diversity",
    "inverted_rbo": "inv. RBO",
    "embedding": "cosine",
    "purity": "purity",
    "nmi": "NMI",
    "kmeans_purity": "k-m. purity",
    "kmeans_nmi": "k-m. NMI",
    "seconds": "seconds",
}

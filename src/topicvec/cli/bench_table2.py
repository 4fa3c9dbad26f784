"""``topicvec bench table2``: the paper's table, measured again."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topicvec.cli.options import Json, Quiet, VectorsOption

if TYPE_CHECKING:
    from topicvec.evaluate.results import Row, Summary

__all__ = ["table2"]


def table2(
    corpus: Annotated[
        str,
        typer.Option(
            "--corpus",
            help="20news, reuters or both; with -heldout behind the name settings are tried on the "
            "last training documents, with -heldout1, -heldout2, … on random ones.",
        ),
    ] = "both",
    methods: Annotated[
        str, typer.Option("--methods", help="Names with commas between, or all.")
    ] = "all",
    vectors: VectorsOption = None,
    seeds: Annotated[int, typer.Option("--seeds", help="Runs of each random method.")] = 1,
    min_count: Annotated[
        int | None,
        typer.Option(
            "--min-count",
            help="Learn vectors of words that the training documents have so often; 0: of none. "
            "By default as chosen for the corpus.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File of results; rows it has are not run again."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", help="Processes of the classifiers; all cores by default."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Classify documents by the features of each method, as in the paper's table 2.

    P, R and F1 are by the paper's protocol (l1 penalty, C = 1), strong is F1 by the stronger one
    (l2, C and scaling chosen by cross-validation), paper is the paper's F1, s seconds to learn.
    The corpora are found in the folder that TOPICVEC_DATA names, in the caches of scikit-learn
    and NLTK, or on the network.

    Example: topicvec bench table2 --corpus reuters --methods BOW,MeanWV,TopicVec
    """
    from topicvec.cli.render import progress, show_json, show_table
    from topicvec.embed import load_vectors
    from topicvec.evaluate.baselines import METHODS
    from topicvec.evaluate.results import summarize
    from topicvec.evaluate.table2 import CORPORA, run_table2

    with progress(quiet=quiet) as advance:
        rows = run_table2(
            list(CORPORA) if corpus == "both" else [corpus],
            list(METHODS) if methods == "all" else [name.strip() for name in methods.split(",")],
            load_vectors(vectors),
            n_seeds=seeds,
            min_count=min_count,
            output=output,
            n_jobs=jobs,
            advance=lambda what, done, total: advance("rows", done, total, what),
        )
        found = summarize(list(rows if quiet else _told(rows)), METHODS)
    if json:
        show_json({"rows": [asdict(summary) for summary in found]})
    else:
        show_table(_table(found))


def _told(rows: "Iterable[Row]") -> "Iterator[Row]":
    from topicvec.cli.render import note

    for row in rows:
        note(_line(row))
        yield row


def _line(row: "Row") -> str:
    head = f"{row.corpus} {row.method} seed {row.seed}:"
    if not row.is_done:
        return f"{head} skipped, {row.skipped}"
    return f"{head} F1 {row.scores['paper'].f1:.1f}, strong {row.scores['strong'].f1:.1f}"


def _table(summaries: "Sequence[Summary]") -> list[dict[str, object]]:
    return [
        {
            "corpus": each.corpus,
            "method": each.method,
            "features": each.n_features or None,
            "P": _text(each.precision),
            "R": _text(each.recall),
            "F1": _text(each.f1),
            "strong": _text(each.strong_f1),
            "paper": _text(each.paper_f1),
            "s": round(each.seconds),
        }
        for each in summaries
    ]


def _text(value: object) -> str:
    return "–" if value is None else str(value)

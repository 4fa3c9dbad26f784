"""``topicvec-bench``: measurements that can be repeated anywhere.

Exit codes and errors are those of ``topicvec``: 0 done, 2 bad input, 130 interrupted; an error is
one line, and its traceback comes only with ``--debug``.
"""

import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from topicvec.cli.main import INTERRUPTED
from topicvec.cli.options import Jobs, Json, Seed, SourceTexts, Texts, flag, reads_texts
from topicvec.cli.render import complain, note, progress_bar, remarks, show_json, show_table
from topicvec.embed import WordVectors, load_vectors
from topicvec.errors import DataError, TopicVecError
from topicvec.text import Document, read_documents
from topicvec_bench.compare import SkippedRun, TopicQuality, TopicRun, run_topics, score_runs
from topicvec_bench.corpora import CORPORA, shared_tokens
from topicvec_bench.registry import METHODS, find_method, names, split_names
from topicvec_bench.results import Results, Row, Summary, check_again, summarize
from topicvec_bench.table2 import run_table2

__all__ = ["app", "call", "run"]

NUMBERS = (20, 50, 100)
Vectors = Annotated[str | None, flag("--vectors", "Word vectors to use; the embedded by default.")]

app = typer.Typer(
    help="Compare TopicVec with other methods.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def run() -> NoReturn:
    """Run the command line and leave the process with its exit code."""
    sys.exit(call(sys.argv[1:]))


def call(arguments: list[str]) -> int:
    """Run one command line and return its exit code.

    Examples
    --------
    >>> call(["table2", "--methods", "BOW", "--seeds", "0"])
    2
    """
    given = [argument for argument in arguments if argument != "--debug"]
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: note(str(message))
            result = app(args=given, prog_name="topicvec-bench", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        result = INTERRUPTED
    except Exception as error:
        message = _one_line(error)
        if message is None or given != arguments:
            raise
        if message:  # else there were no arguments, and the help has been shown
            complain(message)
        return 2
    if result == INTERRUPTED:  # typer may have made this of Ctrl-C
        complain("interrupted")
    return result if isinstance(result, int) else 0


def _one_line(error: Exception) -> str | None:
    """Say what is wrong with the input; None if it is the program."""
    if isinstance(error, TopicVecError | OSError):
        return str(error)
    if hasattr(error, "format_message"):  # wrong usage; typer has its own or click's class for it
        return " ".join(error.format_message().split())
    return None


@app.command()
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
    vectors: Vectors = None,
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
    verify: Annotated[
        bool,
        flag("--verify", "Run rows again that the file has, and fail where a score is another."),
    ] = False,
    json: Json = False,
    quiet: Annotated[bool, flag("--quiet", "-q", "No progress bar and no remarks.")] = False,
) -> None:
    """Classify documents by the features of each method, as in the paper's table 2.

    P, R and F1 are by the paper's protocol (l1 penalty, C = 1), strong is F1 by the stronger one
    (l2, C and scaling chosen by cross-validation), paper is the paper's F1, s seconds to learn.
    The corpora are found in the folder that TOPICVEC_DATA names, in the caches of scikit-learn
    and NLTK, or on the network.

    Example: topicvec-bench table2 --corpus reuters --methods BOW,MeanWV,TopicVec
    """
    if verify and output is None:
        raise DataError("--verify needs the file of results to compare with: name it with -o FILE")
    before = Results.read(output) if verify else None
    with remarks(quiet=quiet), progress_bar() as advance:
        rows = run_table2(
            list(CORPORA) if corpus == "both" else [corpus],
            names("features") if methods == "all" else split_names(methods),
            load_vectors(vectors),
            n_seeds=seeds,
            min_count=min_count,
            output=None if verify else output,
            n_jobs=jobs,
            advance=lambda what, done, total: advance("rows", done, total, what),
        )
        done = list(_told(rows))
    if before is not None:
        check_again(before, done)
    found = summarize(done, METHODS)
    if json:
        show_json({"rows": [asdict(summary) for summary in found]})
    else:
        show_table(_table(found))


def _told(rows: Iterable[Row]) -> Iterator[Row]:
    for row in rows:
        note(_line(row))
        yield row


def _line(row: Row) -> str:
    head = f"{row.corpus} {row.method} seed {row.seed}:"
    if not row.is_done:
        return f"{head} skipped, {row.skipped}"
    strong = row.scores.get("strong")
    return f"{head} F1 {row.scores['paper'].f1:.1f}" + (
        f", strong {strong.f1:.1f}" if strong else ""
    )


def _table(summaries: Sequence[Summary]) -> list[dict[str, object]]:
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


@app.command()
@reads_texts
def topics(
    texts: Texts,
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
        str, typer.Option(help="english, paper, sklearn, none, a language or a file.")
    ] = "english",
    vectors: Vectors = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    words: Annotated[int, typer.Option("--words", help="Also show so many words a topic.")] = 0,
    json: Json = False,
) -> None:
    """Compare the topics of TopicVec with those of other models.

    All models get the same tokens: words that have a vector, without stop words,
    rare words and short ones.
    A model that is not installed is left out, and the reason told.
    In place of a file, 20news or reuters names the training documents of that corpus.

    Example: topicvec-bench topics posts.jsonl --label-column group -k 50 --model TopicVec
    """
    known = load_vectors(vectors)
    tokens, classes = _prepare(
        texts, known, stop_words=stop_words,
        min_documents=min_documents, min_letters=min_letters,
    )  # fmt: skip
    with progress_bar() as advance:
        found = list(_run(tokens, known, numbers or NUMBERS, models, seed, jobs, advance))
        runs = [run for run in found if not isinstance(run, SkippedRun)]
        second = None if reference is None else read_documents(reference, **texts.options)
        scores = score_runs(
            runs, tokens, vectors=known, classes=classes, reference=second, n_jobs=jobs
        )
    skipped = [run for run in found if isinstance(run, SkippedRun)]
    _show(runs, scores, skipped, words, json)


def _prepare(
    texts: SourceTexts, known: WordVectors, **options: Any
) -> tuple[list[list[str]], list[str] | None]:
    """Cut the documents into tokens, drop empty ones, and give classes if all have one."""
    documents = list(_documents(texts))
    tokens = shared_tokens((each.text for each in documents), known, **options)
    labels = [each.label for each, row in zip(documents, tokens, strict=True) if row]
    classes = [label for label in labels if label is not None]
    return [row for row in tokens if row], classes if len(classes) == len(labels) else None


def _documents(texts: SourceTexts) -> Iterable[Document]:
    """Read files, or the training documents of a corpus that is named in place of a file."""
    first, *others = texts.sources
    if not others and first in CORPORA and not Path(first).exists():
        return CORPORA[first]("train").documents
    return texts


def _run(
    tokens: list[list[str]],
    known: WordVectors,
    numbers: Sequence[int],
    models: list[str] | None,
    seed: int,
    jobs: int | None,
    advance: Any,
) -> Iterator[TopicRun | SkippedRun]:
    chosen = [find_method(name, "topics").name_as("topics") for name in models or names("topics")]
    for n_topics in numbers:
        for done, name in enumerate(chosen):
            advance(f"{n_topics} topics", done, len(chosen))
            yield run_topics(name, tokens, n_topics, vectors=known, random_state=seed, n_jobs=jobs)


def _show(
    runs: Sequence[TopicRun],
    scores: Sequence[TopicQuality],
    skipped: Sequence[SkippedRun],
    n_words: int,
    json: bool,
) -> None:
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
    "head_diversity": "diversity of 10",
    "inverted_rbo": "inv. RBO",
    "embedding": "cosine",
    "purity": "purity",
    "nmi": "NMI",
    "kmeans_purity": "k-m. purity",
    "kmeans_nmi": "k-m. NMI",
    "seconds": "seconds",
}

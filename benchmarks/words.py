"""What vectors of the corpus and topics' own words bring, on seven corpora beside peers.

    TOPICVEC_DATA=/path/to/data python benchmarks/words.py --cache /path/outside

Writes ``results/words.json`` after each fit and goes on from it. Needs the laboratory, ``pip
install "./bench[peers]"``, for the sentence encoder. The row "default before" needs a checkout of
the commit before: ``PYTHONPATH=/path/to/it/src``.
"""

import argparse
import inspect
import os
import platform
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from words_data import CORPORA, ITALIAN, SHORT, Prepared, load_corpus, prepare, prepare_corpus
from words_measures import score, unigram_perplexity
from words_peers import SWEEPS, Encoded, EncodedClusters, make_lda, make_nmf
from words_results import BEFORE, ENCODER, LDA, NMF, read, with_run, write

import topicvec
from topicvec import TopicVec, load_vectors
from topicvec.text.tokenizer import Tokenizer

__all__ = ["Prepared", "load_corpus", "prepare", "prepare_corpus", "score"]  # for trials elsewhere

RESULTS = Path(__file__).parent / "results" / "words.json"
CACHE = Path(tempfile.gettempdir()) / "topicvec-words"
QUICK = 500  # documents of a corpus
SHOWN = ("corpus", "row", "seed", "nmi", "npmi", "perplexity", "f1", "seconds")


@dataclass(frozen=True)
class Row:
    """A system of the table.

    Attributes
    ----------
    params : mapping or None
        Of `TopicVec`; None for a peer.
    about : str
        What it is, for the page.
    foreign : bool
        Whether it applies where the general vectors do not; they are left out there.
    """

    about: str
    params: Mapping[str, Any] | None = None
    foreign: bool = True


PLAIN = {"own_words": False, "phrases": False}
FREQUENCIES = "general, corpus frequencies"
ROWS: Mapping[str, Row] = {
    BEFORE: Row("the default of the release before", {}),
    "general": Row("general vectors", {"vectors": "general", **PLAIN}, foreign=False),
    FREQUENCIES: Row("they, with the corpus's word frequencies", PLAIN, foreign=False),
    "corpus alone": Row("vectors of the corpus alone", {"vectors": "corpus", **PLAIN}),
    "+ corpus vectors": Row("general and corpus vectors joined", PLAIN, foreign=False),
    "+ own words": Row("and topics with words of their own", {"phrases": False}),
    "all": Row("and phrases: the default", {}),
    LDA: Row("counts alone"),
    NMF: Row("TF-IDF alone"),
    ENCODER: Row("sentence vectors alone"),
}


@dataclass(frozen=True)
class Run:
    """What to fit: a row on a corpus with a seed."""

    corpus: str
    row: str
    seed: int

    @property
    def applies(self) -> bool:
        """Whether the row is one of this corpus."""
        return self.corpus != ITALIAN or ROWS[self.row].foreign

    def is_in(self, found: Mapping[str, Any]) -> bool:
        """Tell whether a stored record is of this run."""
        return (found["corpus"], found["row"], found["seed"]) == (self.corpus, self.row, self.seed)


def fit(run: Run, prepared: Prepared, cache: Path) -> tuple[Any, float]:
    """Fit a system; give it with the seconds, those of encoding with them."""
    if run.row == ENCODER:
        encoded = Encoded(cache / f"{run.corpus}.npz", prepared.all.texts)
        model = EncodedClusters(prepared.n_classes, encoded, run.seed)
        return model, encoded.seconds + _seconds(model.fit, prepared.fit.texts, prepared.fit.tokens)
    if run.row in (LDA, NMF):
        model = (make_lda if run.row == LDA else make_nmf)(prepared.n_classes, run.seed)
        return model, _seconds(model.fit, prepared.fit.tokens)
    model = TopicVec(prepared.n_classes, **_params(run, prepared), random_state=run.seed)
    return model, _seconds(model.fit, prepared.fit.texts)


def _seconds(call: Callable[..., Any], *arguments: Any) -> float:
    start = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - start


def _params(run: Run, prepared: Prepared) -> dict[str, Any]:
    """Give the parameters of a row of ours; what knows no English takes the corpus alone."""
    is_new = "own_words" in inspect.signature(TopicVec).parameters
    if (run.row == BEFORE) == is_new:
        wanted = "a checkout before own words" if is_new else "the code with own words"
        raise SystemExit(f"{run.row!r} needs {wanted}: give its src by PYTHONPATH")
    params = dict(ROWS[run.row].params or {})
    if run.row == FREQUENCIES:
        params["vectors"] = _with_frequencies(prepared)
    if run.corpus == ITALIAN and run.row != BEFORE:
        params["vectors"] = "corpus"
    return params


def _with_frequencies(prepared: Prepared) -> topicvec.WordVectors:
    vectors, tokenize = load_vectors("general"), Tokenizer()
    tokens = [tokenize(text) for text in prepared.fit.texts]
    seen = set(chain.from_iterable(tokens))
    return load_vectors(vectors.subset([w for w in vectors.words if w in seen]), corpus=tokens)


def measure(run: Run, prepared: Prepared, cache: Path) -> dict[str, Any]:
    """Fit and score; give the record that is stored."""
    model, seconds = fit(run, prepared, cache)
    found = {name: _rounded(value) for name, value in score(model, prepared).items()}
    return {**vars(run), **found, "seconds": round(seconds, 2), **circumstances()}


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.5g}")


def circumstances() -> dict[str, Any]:
    """Say by what code, on how many threads and how busy a machine a run was made."""
    folder = Path(topicvec.__file__).parent
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--exclude=*"]
    commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    threads = os.environ.get("OMP_NUM_THREADS", "default")
    return {"code": commit, "threads": threads, "load": round(os.getloadavg()[0], 1)}


def facts(prepared: Prepared) -> dict[str, float]:
    """Count what a corpus has; foretell its words by their frequencies alone."""
    return {
        "classes": prepared.n_classes,
        "documents": len(prepared.fit.texts),
        "held_out": len(prepared.held.texts),
        "left_out": prepared.left_out,
        "words": len(prepared.vocabulary),
        "tokens": int(prepared.counts.sum()),
        "unigram_perplexity": float(f"{unigram_perplexity(prepared):.5g}"),
    }


def wanted_runs(corpora: Iterable[str], rows: Iterable[str], n_seeds: int) -> list[Run]:
    """List the runs, all rows of a corpus before the next."""
    runs = [Run(corpus, row, seed) for corpus in corpora for row in rows for seed in range(n_seeds)]
    return [run for run in runs if run.applies]


def run_all(runs: Sequence[Run], path: Path, cache: Path, n_documents: int | None) -> None:
    """Do the runs one after another and store each as soon as it is done."""
    prepared: dict[str, Prepared] = {}
    for run in runs:
        if run.corpus not in prepared:
            prepared = {run.corpus: prepare_corpus(run.corpus, n_documents)}  # one at a time
        found = measure(run, prepared[run.corpus], cache)
        print({name: found[name] for name in SHOWN}, flush=True)
        results = with_run(read(path), found, [*CORPORA, *ROWS])
        results["corpora"][run.corpus] = facts(prepared[run.corpus])
        results |= {
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
            "sweeps": SWEEPS,
            "rows": {name: row.about for name, row in ROWS.items()},
        }
        write(path, results, SHORT)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--rows", nargs="+", choices=list(ROWS), default=list(ROWS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--again", action="store_true", help="also what is stored already")
    parser.add_argument("--quick", action="store_true", help="some documents, one seed, not kept")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder for sentence vectors")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    if given.quick:
        given.seeds, given.cache = 1, given.cache / "quick"
        given.output, given.again = given.cache / "words.json", True
    return given


def main() -> None:
    given = options()
    given.cache.mkdir(parents=True, exist_ok=True)
    runs = wanted_runs(given.corpus, given.rows, given.seeds)
    if not given.again:
        stored = read(given.output)["runs"]
        runs = [run for run in runs if not any(run.is_in(each) for each in stored)]
    run_all(runs, given.output, given.cache, QUICK if given.quick else None)


if __name__ == "__main__":
    main()

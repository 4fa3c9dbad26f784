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
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.metrics import f1_score
from sklearn.svm import LinearSVC
from topicvec_bench.corpora import hold_out
from words_peers import Encoded, EncodedClusters, make_lda, make_nmf
from words_results import BEFORE, ENCODER, LDA, NMF, read, with_run, write

import topicvec
from topicvec import TopicVec, load_vectors, read_documents
from topicvec.datasets import LabelledTexts, load_20newsgroups, load_reuters
from topicvec.measure import document_completion, dominant_topics, npmi
from topicvec.model import equations
from topicvec.model.reading import read_topics
from topicvec.text.stopwords import stop_words as resolve_stop_words
from topicvec.text.tokenizer import Tokenizer
from topicvec.text.vocabulary import Vocabulary

RESULTS = Path(__file__).parent / "results" / "words.json"
SHORT = ("searchsnippets", "tweets", "biomedical", "m10")
ITALIAN = "italian"
CORPORA = ("20news", "reuters", *SHORT, ITALIAN)
MIN_DOCUMENTS = 3  # that have a word of the common vocabulary
HELD_OUT = 0.2  # of the documents of each class
FIRST = 10  # words of a topic, for NPMI
QUICK = 500  # documents of a corpus
SHOWN = ("corpus", "row", "seed", "nmi", "npmi", "perplexity", "f1", "seconds")
READ = 200  # of which the first ten of the common vocabulary are taken

Floats = NDArray[np.float64]


class Part(NamedTuple):
    """Documents, as texts and as tokens of the common vocabulary, with their classes."""

    texts: list[str]
    tokens: list[list[str]]
    labels: list[str]


@dataclass(frozen=True, eq=False)
class Prepared:
    """A corpus as all systems get it.

    Attributes
    ----------
    fit, held : Part
        The documents to learn from, and the others.
    vocabulary : tuple of V str
        The common vocabulary.
    counts : array, (V,)
        How often the documents of `fit` have each of its words.
    left_out : int
        Documents without any of its words, which are in neither part.
    """

    fit: Part
    held: Part
    vocabulary: tuple[str, ...]
    counts: NDArray[np.int64]
    left_out: int

    @property
    def all(self) -> Part:
        """All documents, those of `fit` first."""
        return Part(*(first + second for first, second in zip(self.fit, self.held, strict=True)))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(set(self.all.labels))


def load_corpus(name: str) -> tuple[list[str], list[str]]:
    """Give texts and classes; of 20 Newsgroups and Reuters those of the training part."""
    if name in ("20news", "reuters"):
        loaded = (load_20newsgroups if name == "20news" else load_reuters)("train")
        return loaded.texts, loaded.labels.tolist()
    folder = Path(os.environ["TOPICVEC_DATA"])
    path = folder / "italian/dbpedia-it.tsv" if name == ITALIAN else folder / f"short/{name}.tsv"
    documents = list(read_documents(path, label_column="label", text_column="text"))
    return [each.text for each in documents], [str(each.label) for each in documents]


def prepare(
    texts: Sequence[str],
    labels: Sequence[str],
    *,
    stop_words: Any = "english-extended",
    share: float = HELD_OUT,
    min_documents: int = MIN_DOCUMENTS,
) -> Prepared:
    """Part documents, and cut them into words that enough documents to learn from have."""
    halves = _parted(texts, labels, share)
    tokenize, stopped = Tokenizer(), resolve_stop_words(stop_words)
    cut = [
        [[word for word in tokenize(text) if word not in stopped] for text in part.texts]
        for part in halves
    ]
    words = Vocabulary.from_documents(cut[0], min_doc_frequency=min_documents)
    fit, held = (_part(part, tokens, words) for part, tokens in zip(halves, cut, strict=True))
    counts = Counter(chain.from_iterable(fit.tokens))
    vocabulary = tuple(sorted(counts))
    left_out = len(texts) - len(fit.texts) - len(held.texts)
    return Prepared(fit, held, vocabulary, np.array([counts[w] for w in vocabulary]), left_out)


def prepare_corpus(name: str, n_documents: int | None = None) -> Prepared:
    """Load and prepare a corpus, or some of its documents, every so many-th."""
    texts, labels = load_corpus(name)
    step = max(1, len(texts) // n_documents) if n_documents else 1
    stopped = None if name == ITALIAN else "english-extended"
    return prepare(texts[::step], labels[::step], stop_words=stopped)


def _parted(
    texts: Sequence[str], labels: Sequence[str], share: float
) -> tuple[LabelledTexts, LabelledTexts]:
    documents = tuple(
        topicvec.Document(str(row), text, label)
        for row, (text, label) in enumerate(zip(texts, labels, strict=True))
    )
    return hold_out(LabelledTexts(documents, tuple(sorted(set(labels)))), share, seed=0)


def _part(part: LabelledTexts, tokens: Sequence[list[str]], words: Vocabulary) -> Part:
    cut = ([word for word in row if word in words] for row in tokens)
    rows = zip(part.texts, cut, part.labels.tolist(), strict=True)
    kept = [row for row in rows if row[1]]
    return Part(*(list(column) for column in zip(*kept, strict=True)))


def score(model: Any, prepared: Prepared) -> dict[str, float | None]:
    """Measure a fitted model: a `TopicVec` or a peer."""
    shares = mixtures(model, prepared)
    topics = first_words(model, prepared)
    classes = prepared.all.labels
    clusters = dominant_topics(shares[:, 1:] if isinstance(model, TopicVec) else shares, classes)
    return {
        "nmi": clusters.nmi,
        "purity": clusters.purity,
        "npmi": npmi(topics, prepared.all.tokens).value,
        "perplexity": perplexity(model, prepared),
        "f1": None if isinstance(model, EncodedClusters) else macro_f1(shares, prepared),
        "topics": len(topics),
        "known": known_share(model, prepared),
    }


def mixtures(model: Any, prepared: Prepared) -> Floats:
    """Give the mixtures of all documents (D, K); `TopicVec` and the encoder read the texts."""
    reads_texts = isinstance(model, TopicVec | EncodedClusters)
    documents = prepared.all.texts if reads_texts else prepared.all.tokens
    return np.asarray(model.transform(documents), float)


def first_words(model: Any, prepared: Prepared) -> list[list[str]]:
    """List each topic's first ten words of the common vocabulary, not the null topic's."""
    if isinstance(model, TopicVec):
        topics = read_topics(model.fitted_, n_words=READ, n_nearest=0)
        read = [[word for word, _ in each.words] for each in topics if not each.is_null]
    else:
        read = model.topic_words(READ)
    common = frozenset(prepared.vocabulary)
    found = [[word for word in words if word in common][:FIRST] for words in read]
    return [words for words in found if len(words) > 1]


def macro_f1(shares: Floats, prepared: Prepared) -> float:
    """Tell the classes of held-out documents by a linear SVM on square roots of mixtures."""
    n_fit = len(prepared.fit.texts)
    features = np.sqrt(shares)
    machine = LinearSVC(random_state=0).fit(features[:n_fit], prepared.fit.labels)
    found = machine.predict(features[n_fit:])
    return float(f1_score(prepared.held.labels, found, average="macro", zero_division=0.0))


class Completed(NamedTuple):
    """A model's topics over the common vocabulary, as `document_completion` wants them."""

    words_: tuple[str, ...]
    topic_word_: Floats
    transform: Callable[[Any], Any]


def perplexity(model: Any, prepared: Prepared) -> float | None:
    """Foretell half of each held-out document from the other half, in words of the vocabulary.

    None for models without topics that are distributions over words.
    """
    table = word_table(model)
    if table is None:
        return None
    over = common_table(*table, prepared)
    completed = Completed(prepared.vocabulary, over, model.transform)
    return document_completion(completed, prepared.held.tokens).perplexity


def word_table(model: Any) -> tuple[Sequence[str], Floats] | None:
    """Give a model's words (W) and their probabilities in each topic (W, K)."""
    if not isinstance(model, TopicVec):
        lda = hasattr(model, "n_sweeps")
        return (model.words_, np.asarray(model.topic_word_, float).T) if lda else None
    if hasattr(model, "topic_word_"):
        return model.vocabulary_, np.asarray(model.topic_word_, float)
    exponent = equations.logits(model.vectors_.matrix, model.fitted_.topics.astype(float))
    exponent -= exponent.max(axis=0)
    return model.vocabulary_, equations.word_probabilities(model.vectors_.unigram, exponent)


def common_table(words: Sequence[str], table: Floats, prepared: Prepared) -> Floats:
    """Bring topics to the common vocabulary, (K, V), rows sum to 1.

    A phrase counts as its words. Words that the model does not know share, in proportion to their
    counts, the part of the probability that they have of the training tokens.
    """
    found = _spelled_out(words, prepared.vocabulary) @ table  # V × K
    unknown = found.sum(axis=1) <= 0
    counts = np.where(unknown, prepared.counts, 0)
    lost = counts.sum() / prepared.counts.sum()
    found *= (1 - lost) / found.sum(axis=0)
    found += (counts / prepared.counts.sum())[:, None]
    completed: Floats = found.T
    return completed


def _spelled_out(words: Sequence[str], vocabulary: Sequence[str]) -> csr_array:
    """Say how often each word of the vocabulary is in each word or phrase of a model, (V, W)."""
    ids = {word: row for row, word in enumerate(vocabulary)}
    entries = [
        (ids[part], column)
        for column, word in enumerate(words)
        for part in ([word] if word in ids else word.split(" "))
        if part in ids
    ]
    rows, columns = np.array(entries).reshape(-1, 2).T
    return csr_array((np.ones(len(entries)), (rows, columns)), (len(vocabulary), len(words)))


def known_share(model: Any, prepared: Prepared) -> float | None:
    """Give the share of the training tokens, of the common vocabulary, that a model knows."""
    words = getattr(model, "vocabulary_", None) or model.words_
    known = np.isin(prepared.vocabulary, list(chain.from_iterable(w.split(" ") for w in words)))
    return float(prepared.counts[known].sum() / prepared.counts.sum())


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
    model = TopicVec(prepared.n_classes + 1, **_params(run, prepared), random_state=run.seed)
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
    command = ["git", "-C", str(folder), "rev-parse", "--short=7", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    threads = os.environ.get("OMP_NUM_THREADS", "default")
    return {"code": commit, "threads": threads, "load": round(os.getloadavg()[0], 1)}


def facts(prepared: Prepared) -> dict[str, int]:
    """Count what a corpus has."""
    return {
        "classes": prepared.n_classes,
        "documents": len(prepared.fit.texts),
        "held_out": len(prepared.held.texts),
        "left_out": prepared.left_out,
        "words": len(prepared.vocabulary),
        "tokens": int(prepared.counts.sum()),
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
        results["machine"] = f"{platform.machine()}, {os.cpu_count()} cores"
        write(path, results, SHORT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--rows", nargs="+", choices=list(ROWS), default=list(ROWS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--again", action="store_true", help="also what is stored already")
    parser.add_argument("--quick", action="store_true", help="some documents, one seed, not kept")
    parser.add_argument("--cache", type=Path, required=True, help="folder for sentence vectors")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    path, n_documents = given.output, None
    if given.quick:
        given.seeds, n_documents, given.cache = 1, QUICK, given.cache / "quick"
        path = given.cache / "words.json"
        given.cache.mkdir(parents=True, exist_ok=True)
    runs = wanted_runs(given.corpus, given.rows, given.seeds)
    if not given.again:
        stored = read(path)["runs"]
        runs = [run for run in runs if not any(run.is_in(each) for each in stored)]
    run_all(runs, path, given.cache, n_documents)


if __name__ == "__main__":
    main()

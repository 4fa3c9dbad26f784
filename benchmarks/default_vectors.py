"""How good the embedded vectors are: words, documents, spelling and words that are hidden.

    TOPICVEC_DATA=/path/to/data python benchmarks/default_vectors.py WORK BEFORE.safetensors

WORK is the folder of ``scripts/default_vectors.py``, with the vectors in full precision and those
of PSDVec alone; BEFORE are other vectors to compare with.
"""

import argparse
import difflib
import json
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

import news
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import f1_score, normalized_mutual_info_score
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from topicvec import TopicVec, WordVectors, load_vectors
from topicvec.embed import newwords
from topicvec.embed.newwords import new_word_vectors
from topicvec.embed.spelling import SpellingTable
from topicvec.measure import evaluate_words
from topicvec.text import BagOfWords, Tokenizer, Vocabulary, read_documents
from topicvec.text.stopwords import stop_words

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
from default_vectors import learn_spelling  # which makes the table that is shipped

RESULTS = Path(__file__).parent / "results" / "default_vectors.json"
SHORT = {"searchsnippets": 20, "m10": 20, "tweets": 50, "biomedical": 20}  # and how many topics
SEEDS = range(3)
OCCURRENCES = (1, 3, 10, 50)
N_HIDDEN = 1_000


def macro_f1(train: Any, test: Any, train_y: Any, test_y: Any) -> float:
    model = LinearSVC(dual=False, random_state=0).fit(train, train_y)
    return round(100 * f1_score(test_y, model.predict(test), average="macro"), 2)


def mean_vectors(vectors: WordVectors, texts: list[str]) -> Any:
    vocabulary = Vocabulary(vectors.words, np.maximum(1, vectors.unigram * 1e9).astype(np.int64))
    counts = BagOfWords(vocabulary, stop_words="paper").fit(texts).transform(texts)
    return counts @ vectors.matrix / np.maximum(counts.sum(1), 1)[:, None]


def word_scores(vectors: WordVectors) -> dict[str, Any]:
    tests = evaluate_words(vectors, news.DATA / "words")
    row: dict[str, Any] = {score.name: score.as_dict() for score in tests}
    three = [row[name]["spearman"] for name in ("ws353", "bruni_men", "simlex_999a")]
    return row | {"mean of ws353, MEN and SimLex": round(float(np.mean(three)), 4)}


def news_scores(vectors: WordVectors) -> dict[str, Any]:
    train, test = news.load("train"), news.load("test")
    means = [mean_vectors(vectors, part.texts) for part in (train, test)]
    row = {"20News macro F1, mean word vector": macro_f1(*means, train.groups, test.groups)}
    start = time.perf_counter()
    model = TopicVec(
        14, vectors, stop_words="paper", own_words=False, alpha=0.1, random_state=0
    ).fit(train.texts, train.groups)
    row["seconds to fit 281 topics"] = round(time.perf_counter() - start, 1)
    topics = [model.sqrt_proportions(part.texts, prior=False) for part in (train, test)]
    row["20News macro F1, TopicVec"] = macro_f1(
        *(10 * t for t in topics), train.groups, test.groups
    )
    return row


def short_scores(vectors: WordVectors) -> dict[str, Any]:
    """NMI of the largest topic and macro F1 on half of the texts; mean and spread over seeds."""
    rows: dict[str, Any] = {}
    for name, n_topics in SHORT.items():
        documents = list(
            read_documents(
                news.DATA / "short" / f"{name}.tsv", text_column="text", label_column="label"
            )
        )
        texts, labels = [d.text for d in documents], np.array([d.label for d in documents])
        found = np.array([short_score(vectors, texts, labels, n_topics, s) for s in SEEDS])
        mean, spread = found.mean(0), np.ptp(found, axis=0)
        rows[name] = {
            "NMI": round(mean[0], 3), "spread of NMI": round(spread[0], 3),
            "macro F1": round(mean[1], 1), "spread of macro F1": round(spread[1], 1),
        }  # fmt: skip
    return rows


def short_score(
    vectors: WordVectors, texts: list[str], labels: NDArray[Any], n_topics: int, seed: int
) -> tuple[float, float]:
    model = TopicVec(
        n_topics,
        vectors,
        stop_words="english-extended",
        own_words=False,
        alpha=0.1,
        random_state=seed,
    )
    largest = model.fit_transform(texts)[:, 1:].argmax(axis=1)
    features = 10 * model.sqrt_proportions(texts, prior=False)
    train, test = train_test_split(np.arange(len(texts)), test_size=0.5, random_state=0)
    f1 = macro_f1(features[train], features[test], labels[train], labels[test])
    return float(normalized_mutual_info_score(labels, largest)), f1


def scores(vectors: WordVectors) -> dict[str, Any]:
    return word_scores(vectors) | news_scores(vectors) | {"short texts": short_scores(vectors)}


def cosines(a: Any, b: Any) -> Any:
    return np.sum(a * b, 1) / np.maximum(
        np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1), 1e-9
    )


def spelling_scores(vectors: WordVectors) -> dict[str, Any]:
    """Learn the table without 5% of the words and guess these."""
    rng = np.random.default_rng(0)
    held = np.sort(rng.choice(len(vectors), len(vectors) // 20, replace=False))
    rest = np.setdiff1d(np.arange(len(vectors)), held)
    words = [vectors.words[i] for i in held]
    guesses = learn_spelling(vectors, rest).estimate(words)
    row = {"letters": ranks(vectors, held, guesses)}
    row["the mean vector"] = ranks(
        vectors, held, np.tile(vectors.matrix[rest].mean(0), (len(held), 1))
    )
    sample = held[::10]  # edit distance is slow
    row["the word of nearest spelling"] = ranks(
        vectors, sample, vectors.matrix[[nearest_spelling(vectors, rest, i) for i in sample]]
    )
    return row


def nearest_spelling(vectors: WordVectors, rest: NDArray[np.intp], word: int) -> int:
    """The word of the greatest edit similarity, by difflib, among those of the same start."""
    text = vectors.words[word]
    near = {vectors.words[i]: int(i) for i in rest if vectors.words[i][:2] == text[:2]}
    found = difflib.get_close_matches(text, near, 1, cutoff=0.0)
    return near[found[0]] if found else int(rest[0])


def ranks(vectors: WordVectors, held: NDArray[np.intp], guesses: Any) -> dict[str, float]:
    """Cosine with the true vector, and where the true word stands among all by the guess."""
    true, some = vectors.matrix[held], np.arange(0, len(held), max(1, len(held) // 500))
    units = vectors.normalized().matrix
    near = guesses[some] @ units.T
    own = near[np.arange(len(some)), held[some]]
    place = (near > own[:, None]).sum(1) + 1
    return {
        "cosine": round(float(cosines(guesses, true).mean()), 3),
        "median rank of the word itself": float(np.median(place)),
        "share within the first 10": round(float(np.mean(place <= 10)), 3),
    }


def wiki_tokens(n_documents: int) -> list[list[str]]:
    paths = sorted((news.DATA / "wiki").glob("*.xz"))
    documents = read_documents(paths[3], format="tsv", header=False, id_column=0, text_column=1)
    tokenize, stop = Tokenizer(), stop_words("english-extended")
    some = (document for document, _ in zip(documents, range(n_documents), strict=False))
    return [[word for word in tokenize(d.text) if word not in stop] for d in some]


def hiding_scores(vectors: WordVectors) -> dict[str, Any]:
    """Hide known words and give them back from a few occurrences in Wikipedia."""
    texts = wiki_tokens(8_000)
    places: dict[str, list[tuple[int, int]]] = {}
    for text, tokens in enumerate(texts):
        for place, token in enumerate(tokens):
            places.setdefault(token, []).append((text, place))
    rng = np.random.default_rng(0)
    common = [w for w in vectors.words[3_000:] if len(places.get(w, ())) >= 50 and w.isalpha()]
    rare = [w for w in vectors.words[40_000:] if len(places.get(w, ())) >= 3 and w.isalpha()]
    groups = {"common words": common, "rare words": rare}
    hidden = {name: rng.choice(ws, N_HIDDEN, replace=False).tolist() for name, ws in groups.items()}
    gone = set(chain.from_iterable(hidden.values()))
    kept = np.array([i for i, word in enumerate(vectors.words) if word not in gone])
    table = learn_spelling(vectors, kept)
    general = vectors.subset([vectors.words[i] for i in kept])
    result: dict[str, Any] = {}
    for name, words in hidden.items():
        for n in OCCURRENCES if name == "common words" else OCCURRENCES[:2]:
            snippets = list(around(texts, places, words, n, gone, rng))
            row = hiding_score(vectors, general, table, words, snippets)
            result[f"{name}, {n} occurrences"] = row
    return result


def around(
    texts: Sequence[Sequence[str]],
    places: dict[str, list[tuple[int, int]]],
    words: Sequence[str],
    n: int,
    gone: set[str],
    rng: np.random.Generator,
) -> Iterator[list[str]]:
    """Cut n occurrences of each word out of the texts; no other hidden word is seen there."""
    for word in words:
        for choice in rng.choice(len(places[word]), n, replace=False):
            text, place = places[word][choice]
            before, after = texts[text][max(0, place - 7) : place], texts[text][place + 1 :][:7]
            left, right = (["" if w in gone else w for w in side] for side in (before, after))
            yield [*left, word, *right]


def hiding_score(
    vectors: WordVectors,
    general: WordVectors,
    table: SpellingTable,
    words: Sequence[str],
    snippets: list[list[str]],
) -> dict[str, float]:
    newwords.spelling_table = lambda: table  # which has not seen the hidden words
    true = vectors.subset(words).matrix
    without = {key: text for key, text in general.metadata.items() if key != "spelling"}
    plain = WordVectors(general.words, general.matrix, general.unigram, without)
    both = general.with_metadata(spelling=table.name)
    found = {
        "spelling": new_word_vectors(both, words, []),
        "neighbours": new_word_vectors(plain, words, snippets),
        "both": new_word_vectors(both, words, snippets),
    }
    row = {name: round(float(cosines(each, true).mean()), 3) for name, each in found.items()}
    length = np.linalg.norm(found["both"], axis=1).mean() / np.linalg.norm(true, axis=1).mean()
    return row | {"length of both, relative to the true": round(float(length), 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("before")
    given = parser.parse_args()
    full, plain = (load_vectors(given.work / f"{n}.safetensors") for n in ("joined", "psdvec"))
    folder = files("topicvec.embed") / "data"
    raw = [(folder / f"{name}.safetensors").read_bytes() for name in ("default", "spelling")]
    start = time.perf_counter()
    quantized = load_vectors()
    seconds = time.perf_counter() - start
    result: dict[str, Any] = {
        "words": len(quantized),
        "dimensions": quantized.n_dims,
        "MB": [round(len(each) / 1e6, 1) for each in raw],
        "MB deflated": [round(len(zlib.compress(each, 9)) / 1e6, 1) for each in raw],
        "seconds to load": round(seconds, 3),
        "relative error": float(
            np.linalg.norm(quantized.matrix - full.matrix) / np.linalg.norm(full.matrix)
        ),
    }
    parts: dict[str, Callable[[], Any]] = {
        "hidden words": lambda: hiding_scores(quantized),
        "spelling": lambda: spelling_scores(quantized),
        "full precision": lambda: word_scores(full),
        "quantised": lambda: scores(quantized),
        "before": lambda: scores(load_vectors(given.before)),
        "without the teacher": lambda: word_scores(plain) | {"short texts": short_scores(plain)},
    }
    for name, measure in parts.items():  # what is done is kept if a later part fails
        result[name] = measure()
        print(name, json.dumps(result[name], indent=2), flush=True)
        RESULTS.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()

"""Tokenizer speed in MB/s against scikit-learn's CountVectorizer analyzer, on the same text.

Run ``TOPICVEC_DATA=/path/to/data python benchmarks/tokenizer.py``. The folder is read in place:
``20news-bydate.tar.xz`` and ``wiki/*.txt.xz``. Both tokenizers run in turn
on one core in one process; the best of several rounds counts, so that other load on the machine
matters little to the ratio.
"""

import json
import os
import tarfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from sklearn.feature_extraction.text import CountVectorizer

from topicvec.text import Tokenizer, read_documents

RESULTS = Path(__file__).parent / "results" / "tokenizer.json"
N_DOCUMENTS = 4_000
N_ROUNDS = 5


def news(data: Path) -> Iterator[str]:
    with tarfile.open(data / "20news-bydate.tar.xz") as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:
                yield file.read().decode("latin-1")


def wiki(data: Path) -> Iterator[str]:
    shards = sorted((data / "wiki").glob("*.txt.xz"))
    documents = read_documents(shards, format="tsv", header=False, id_column=0, text_column=1)
    return (document.text for document in documents)


def megabytes_per_second(functions: dict[str, Callable], texts: list[str]) -> dict[str, float]:
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(N_ROUNDS):
        for name, function in functions.items():
            start = time.process_time()
            for text in texts:
                function(text)
            best[name] = min(best[name], time.process_time() - start)
    size = sum(len(text.encode()) for text in texts) / 1e6
    return {name: round(size / seconds, 1) for name, seconds in best.items()}


def measure(texts: list[str]) -> dict[str, float]:
    speeds = megabytes_per_second(
        {
            "topicvec": Tokenizer(),
            "topicvec_original_rules": Tokenizer(rules="original"),
            "sklearn": CountVectorizer().build_analyzer(),
        },
        texts,
    )
    return speeds | {"ratio": round(speeds["topicvec"] / speeds["sklearn"], 2)}


def main() -> None:
    data = Path(os.environ["TOPICVEC_DATA"])
    corpora = {"20news": news, "wiki": wiki}
    results = {
        name: measure(list(islice(texts(data), N_DOCUMENTS))) for name, texts in corpora.items()
    }
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps({"unit": "MB/s", **results}, indent=2) + "\n")
    print(RESULTS.read_text())


if __name__ == "__main__":
    main()

"""How many topics, what they are called, and how much of an article is filler that is not marked.

    TOPICVEC_DATA=/path/to/data python benchmarks/topic_names.py numbers names articles

Writes ``results/topic_names.json``, a key for each part. All fits are ``TopicVec()`` as it is, but
for Italian, which takes ``vectors="corpus"`` and no stop words, as its text has none.
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from articles import ten_articles, wiki_texts
from words_data import CORPORA, ITALIAN, load_corpus

from topicvec import TopicVec, datasets
from topicvec.engine import LocalEngine
from topicvec.model import count_topics, read_topics
from topicvec.model.words import text_vectors

RESULTS = Path(__file__).parent / "results" / "topic_names.json"
WITHIN = 0.4  # of the number of classes
SUBSETS = ((5, "20news"), (10, "20news"), (15, "20news"), (5, "biomedical"), (10, "biomedical"))
MATCH = 0.5  # of the documents of a topic that are of one class

# A class's own words, and what people call it. Written down before these names were made, but not
# before words of topics of these posts had been seen in trials of rankings.
SYNONYMS = {
    "alt.atheism": "atheism atheist atheists religion belief morality god",
    "comp.graphics": "graphics image images jpeg gif rendering",
    "comp.os.ms-windows.misc": "windows dos microsoft",
    "comp.sys.ibm.pc.hardware": "pc ibm hardware bios motherboard scsi ide drive disk",
    "comp.sys.mac.hardware": "mac apple macintosh",
    "comp.windows.x": "x window windows server motif widget",
    "misc.forsale": "sale sell selling forsale offer shipping price",
    "rec.autos": "car cars auto autos automobile",
    "rec.motorcycles": "motorcycle motorcycles bike bikes ride riding",
    "rec.sport.baseball": "baseball",
    "rec.sport.hockey": "hockey nhl",
    "sci.crypt": "encryption crypto cryptography cipher key clipper",
    "sci.electronics": "electronics electronic circuit voltage wire",
    "sci.med": "medicine medical disease patients health doctor",
    "sci.space": "space nasa orbit",
    "soc.religion.christian": "christian christianity god jesus church christ bible",
    "talk.politics.guns": "gun guns firearm firearms weapon weapons",
    "talk.politics.mideast": "israel israeli arab armenian turkish turkey",
    "talk.politics.misc": "politics political president government clinton tax",
    "talk.religion.misc": "religion religious christian god bible jesus",
}


def settings(corpus: str) -> dict[str, Any]:
    """Say what is not the default: another language takes its own vectors."""
    return {"vectors": "corpus", "stop_words": None} if corpus == ITALIAN else {}


def number(corpus: str, texts: list[str]) -> tuple[int, float]:
    """Count the topics of a corpus, from its texts alone; give the seconds it adds to a fit."""
    model, engine = TopicVec(**settings(corpus)), LocalEngine()
    reading = model._read(texts)
    vectors = text_vectors(model.vectors, reading, engine)
    counts = reading.bag(vectors).counts
    start = time.perf_counter()
    return count_topics(vectors, counts), time.perf_counter() - start


def numbers() -> list[dict[str, Any]]:
    """Numbers of topics of the corpora, and of some classes of two of them, beside a control."""
    loaded = {name: load_corpus(name) for name in CORPORA}
    found = [_numbered(name, *loaded[name]) for name in CORPORA]
    for n_classes, name in SUBSETS:
        texts, labels = loaded[name]
        drawn = np.random.default_rng(n_classes).permutation(sorted(set(labels)))[:n_classes]
        kept = [pair for pair in zip(texts, labels, strict=True) if pair[1] in drawn]
        found.append(_numbered(name, *map(list, zip(*kept, strict=True))))
    return found


def _numbered(name: str, texts: list[str], labels: list[str]) -> dict[str, Any]:
    n_topics, seconds = number(name, texts)
    n_classes = len(set(labels))
    control = round(np.sqrt(len(texts)) / 7)  # the size of the corpus alone
    row = {"corpus": name, "documents": len(texts), "classes": n_classes, "found": n_topics}
    row |= {"within": _is_within(n_topics, n_classes), "seconds": round(seconds, 1)}
    row |= {"control": control, "control_within": _is_within(control, n_classes)}
    print(row, flush=True)
    return row


def _is_within(found: int, n_classes: int) -> bool:
    return abs(found - n_classes) <= WITHIN * n_classes


def names() -> list[dict[str, Any]]:
    """Names of the topics of 20 Newsgroups that match a class, by default and with 20 topics."""
    texts, labels = load_corpus("20news")
    return [_named(texts, labels, given, seed) for given in ("auto", 20) for seed in range(2)]


def _named(texts: list[str], labels: list[str], n_topics: Any, seed: int) -> dict[str, Any]:
    model = TopicVec(n_topics, random_state=seed).fit(texts)
    start = time.perf_counter()
    topics = [topic for topic in read_topics(model.fitted_) if not topic.is_null]
    seconds = time.perf_counter() - start
    main = model.doc_topic_[:, 1:].argmax(axis=1) + 1
    rows = []
    for topic in topics:
        classes = Counter(label for label, k in zip(labels, main, strict=True) if k == topic.index)
        best, n = classes.most_common(1)[0] if classes else ("", 0)
        if n > MATCH * classes.total():
            words = topic.title.replace(",", " ").split()[:3]
            named = any(word in SYNONYMS[best].split() for word in words)
            rows.append({"label": topic.title, "class": best, "named": named})
    labels_found = [topic.title for topic in topics]
    found = {"n_topics": n_topics, "seed": seed, "topics": len(topics), "matching": len(rows)}
    found |= {"named": sum(row["named"] for row in rows), "rows": rows}
    found |= {"distinct": len(set(labels_found)) == len(topics), "seconds": round(seconds, 3)}
    print({name: value for name, value in found.items() if name != "rows"}, flush=True)
    return found


def articles() -> list[dict[str, Any]]:
    """Topics of ten articles and the bundled one, for a person to judge."""
    texts = [datasets.sample_article(), *ten_articles(wiki_texts(2))]
    return [_article(text) for text in texts]


def _article(text: str) -> dict[str, Any]:
    model = TopicVec(random_state=0).fit([text])
    before = TopicVec(19, random_state=0, vectors="general", init="spread").fit([text])
    return {
        "begins": " ".join(text.split()[:8]),
        "topics": [_line(topic) for topic in model.topics_ if not topic.is_null],
        "background": round(sum(t.share for t in model.topics_ if t.is_background), 3),
        "as before": [_line(topic) for topic in before.topics_ if not topic.is_null],
    }


def _line(topic: Any) -> str:
    mark = "background, " if topic.is_background else ""
    words = " ".join(word for word, _ in topic.words[:8])
    return f"{mark}{topic.share:.1%} [{topic.title}] {words}"


PARTS = {part.__name__: part for part in (numbers, names, articles)}


def main(parts: Iterable[str]) -> None:
    for part in parts:
        found = PARTS[part]()
        results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        results[part] = found
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="+", choices=list(PARTS))
    main(parser.parse_args().parts)

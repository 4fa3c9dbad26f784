"""The page of search and of few labels, from ``retrieval.json`` and ``few_labels.json``."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from words_page import TITLES

HEAD = """# Search beside other ways to find documents

Made from `benchmarks/results/retrieval.json` by `scripts/make_tables.py`; the results by

<!-- not run: it takes many minutes and the corpora -->
```sh
python benchmarks/retrieval.py
```

Documents that are held out are the queries, and those of the same class should be found; nobody is
told the classes. Of 20 Newsgroups and Reuters these are parts of the training documents. **Search**
is `DocumentIndex.build(TopicVec(n_topics, random_state=0).fit(texts), texts)` with all defaults but
the number of topics, twice that of the classes; LDA (tomotopy, 500 sweeps) has as many. TF-IDF and
BM25 see all words but stop words. Mean vectors are those of the embedded general vectors, plain or
weighted by inverse document frequency and without their common direction. One seed.

## The blend

A score is a blend of three parts: topics, meaning (mean vectors that have learned from the
documents) and the very words (BM25). The documents choose it themselves, without labels: up to 200
of them are cut in two, every other one of their different words, and each half is a query among up
to 4,000 documents. What is found for one half should have the words of the other half, which the
query does not have (their mean BM25 score over the first ten hits, the document itself left out).
All blends in tenths, with at least a tenth of each part, are tried, and the mean of those is taken
that are not worse than the best by more than a standard error: with few documents the blend is
therefore more even. It takes about a second and is saved with the index.

Why this measure: to find the document itself by its half is done best by words alone, on titles at
a loss of ten points of documents of the same class. Judges by meaning and by topics besides agree
a little better with classes on corpora of thousands, but with topics of a hundred documents, which
know these too well, they give topics too much. That was seen on the training parts of these
corpora, whole and cut to 600 documents, and on the sample corpus; nothing was chosen on Italian.

## Topics that are alike

The part of topics does not compare topics one by one: the similarity of mixtures p and q is
√pᵀ S √q, scaled, where S has the third powers of the cosines of topic vectors, so that topics
learned in different classes do not part documents that are alike. S is positive semidefinite
(`topic_kernel`; `mixture_points` gives points whose products are these similarities, for clusters
and maps). On M10, Reuters, biomedical titles and 20 Newsgroups, by topics alone and with 300
queries, P@10 with the identity for S is the same within half a point, but 1.1 points better on 20
Newsgroups, and MAP is .3 to .7 points worse on all four; with the cosines themselves P@10 is worse
by up to 3 points. Mixtures are taken without a prior: with one, topics alone find 3 to 13 points
less on six corpora.

## Documents of the same class

P@10 is the share of the same class among the first ten, ± its standard error; MAP the mean average
precision over all documents. In percent.
"""

LABELS_HEAD = """## Few labels

By `benchmarks/few_labels.py` (`benchmarks/results/few_labels.json`): macro F1, in percent, of
`TopicClassifier()` with all defaults beside a linear support vector machine on TF-IDF, on up to
1,000 documents that are held out from the training documents. The labelled documents are drawn
anew for each seed, the same for both; ± is the standard deviation over seeds, where there are
several. Nothing else is learned from: vectors and topics know the labelled documents only. The
number of labels at which the form changes, 200, and the strength of the regression were settled
while looking at single runs on M10, search snippets, biomedical titles and Reuters. With 100 labels
a class in these runs TF-IDF was 1.7 points ahead on Reuters (94.4 and 92.7), and behind by .6 on
biomedical titles; the rows that are missing below have not been run with the form of now.

| corpus | labels a class | form | TopicClassifier | TF-IDF |
|---|---|---|---|---|"""


def retrieval_page(results: Path) -> str:
    """Write the page."""
    found, labels = (
        json.loads((results / name).read_text(encoding="utf-8"))
        for name in ("retrieval.json", "few_labels.json")
    )
    return "\n".join(
        [
            HEAD,
            *(section(name, found[name]) for name in TITLES if name in found),
            LABELS_HEAD,
            *(row for name in TITLES for row in label_rows(TITLES[name], labels.get(name, {}))),
            "",
        ]
    )


def label_rows(title: str, found: Mapping[str, Any]) -> list[str]:
    """Write the rows of a corpus, a number of labels each."""
    return [
        f"| {title} | {n_labels} | `{runs[0]['form']}` "
        f"| {spread(runs, 'classifier')} | {spread(runs, 'tf-idf')} |"
        for n_labels, runs in found.items()
    ]


def spread(runs: Sequence[Mapping[str, Any]], way: str) -> str:
    """Write the mean of the seeds, and their standard deviation."""
    scores = [100 * run[way] for run in runs]
    return f"{mean(scores):.1f}" + (f" ± {stdev(scores):.1f}" if len(scores) > 1 else "")


def section(name: str, found: Mapping[str, Any]) -> str:
    """Write the table of a corpus."""
    blend = ", ".join(f"{part} {share:.2f}" for part, share in found["blend"].items())
    ways = [
        f"| {way} | {100 * each['precision']:.1f} ± {100 * each['error']:.1f} "
        f"| {100 * each['average_precision']:.1f} |"
        for way, each in found["ways"].items()
    ]
    return "\n".join(
        [
            f"### {TITLES[name]}\n",
            f"{found['documents']:,} documents, {found['queries']:,} queries, "
            f"{found['classes']} classes, {found['n_topics']} topics. Blend: {blend}.\n",
            "| way | P@10 | MAP |\n|---|---|---|",
            *ways,
            "",
        ]
    )

"""The page of search, movers and few labels, from the results of these three benchmarks."""

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
is `DocumentIndex.build(TopicVec(random_state=0).fit(texts), texts)`, all by default, the number of
topics too; LDA (tomotopy, 500 sweeps) has as many topics. TF-IDF and
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
several. Nothing else is learned from: vectors and topics know the labelled documents only. "All"
is all documents that are not held out; a class that has fewer than so many gives all it has. Rows
without ± are one seed.

A document is its topics, the mean direction of its words, and the words themselves weighted by
TF-IDF, each part of length 1, for any number of labels; a linear support vector machine (squared
hinge, each class against the rest, strength 0.3) weighs them. That was chosen on other documents, a
fifth of those to learn from, in 13 draws: 10 and 100 labels of M10, search snippets, biomedical
titles and Reuters (100 three times), all of Reuters and search snippets, and 30 of 20 Newsgroups.
There

- a logistic regression on the same features (strength 10; 3 and 30 were within .2 in the
  mean of 7 draws) was behind the machine in 11 draws, by .6 points in the mean of all 13;
- the machine's strengths 0.1, 0.3 and 1 gave 81.1, 81.4 and 81.2 in the mean of 12 draws: 0.1 is
  better on M10, 1 on Reuters;
- the words at twice the length were better by up to a point on Reuters with 100 or all labels, and
  worse by 2 to 5 points with 10 labels on M10 and search snippets;
- a regression on topics alone, the form for many labels before, was behind in all of 7 draws;
- TF-IDF alone was ahead in one draw, search snippets with all labels (94.8 and 94.3);
- probabilities, a softmax of the margins times a number, had the least log loss at 4 and 5 of 2 to
  6 (.72 in the mean of 11 draws; the regression .74). It is 4.

The regression had been run first on the documents of the table: 10 labels of M10, search snippets,
Reuters and biomedical titles, two seeds, and 100 of Reuters. The machine was looked for because the
regression was .9 points behind TF-IDF there with 100 labels of Reuters. On these nine runs the
machine is not better than the regression: .1 points worse in the mean, 1.2 better with 10 labels of
Reuters and 1.2 worse with 10 of search snippets.

| corpus | labels a class | TopicClassifier | TF-IDF |
|---|---|---|---|"""


MOVERS_HEAD = """## Topic mover's distance

By `benchmarks/movers.py` (`benchmarks/results/movers.json`): the **topic mover's distance** (TMD,
`transport_distance`) is the least work that turns one topic mixture into another, the word mover's
distance (WMD, Kusner et al. 2015) the least work that turns the words of one document into those of
another. Queries are held-out training documents, candidates are others; P@10 is the share of the
same class. The topics are learned without classes from all documents that are not held out;
mixtures are without a prior and cut to their 8 largest topics. Times are processor time of one
thread, the topic model's fit not counted, nor that documents are described. "Pruned" gives the same
ten, with bounds that spare most of the work. WMD is solved by POT, TMD by the package's own solver,
which is faster on few topics and slower on many words; the word mover's time of a pair is that of
five candidates a query.

The number of 8 topics, mixtures without a prior and topics with words of their own were chosen by
P@10 of 150 random held-out documents of each corpus, of which some are among these queries; WMD had
nothing to choose. As classifiers by the votes of neighbours, where WMD is ahead on Reuters, both
have rows in [table 2](tables.md).
"""


def retrieval_page(results: Path) -> str:
    """Write the page."""
    found, labels, movers = (
        json.loads((results / name).read_text(encoding="utf-8"))
        for name in ("retrieval.json", "few_labels.json", "movers.json")
    )
    return "\n".join(
        [
            HEAD,
            *(section(name, found[name]) for name in TITLES if name in found),
            MOVERS_HEAD,
            *(movers_section(name, movers[name]) for name in TITLES if name in movers),
            LABELS_HEAD,
            *(row for name in TITLES for row in label_rows(TITLES[name], labels.get(name, {}))),
            "",
            where_behind(labels),
            "",
        ]
    )


def movers_section(name: str, found: Mapping[str, Any]) -> str:
    """Write the table of the movers on a corpus."""
    lead, faster = found["lead_of_tmd"], found["times_faster"]
    rows = [
        f"| {way} | {100 * each['precision']:.1f} ± {100 * each['error']:.1f} "
        f"| {'' if each['us_pair'] is None else format(each['us_pair'], '.3g')} "
        f"| {each['ms_query']:.3g} |"
        for way, each in found["ways"].items()
    ]
    return "\n".join(
        [
            f"### {TITLES[name]}, movers\n",
            f"{found['queries']} queries, {found['candidates']:,} candidates, "
            f"{found['n_topics']} topics. A pair takes WMD {faster['pair']:.0f} times as long as "
            f"TMD, a query with pruning {faster['query_pruned']:.0f} times. P@10 of TMD less that "
            f"of WMD: {100 * lead['precision']:.1f} ± {100 * lead['error']:.1f} points.\n",
            "| way | P@10 | µs a pair | ms a query |\n|---|---|---|---|",
            *rows,
            "",
        ]
    )


def label_rows(title: str, found: Mapping[str, Any]) -> list[str]:
    """Write the rows of a corpus, a number of labels each."""
    return [
        f"| {title} | {n_labels} | {spread(runs, 'classifier')} | {spread(runs, 'tf-idf')} |"
        for n_labels, runs in sorted(found.items(), key=lambda item: item[1][0]["documents"])
    ]


def where_behind(labels: Mapping[str, Any]) -> str:
    """Say where TF-IDF is ahead, and by how much."""
    behind = [
        f"{TITLES[name]} with {n_labels} ({lead:.1f} points)"
        for name, found in labels.items()
        for n_labels, runs in found.items()
        if (lead := 100 * mean(run["tf-idf"] - run["classifier"] for run in runs)) > 0
    ]
    return f"TF-IDF is ahead in the mean of the seeds in {'; '.join(behind) or 'no row'}."


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

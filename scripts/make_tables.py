"""Write the pages of table 2, topic quality, own words and search from the committed results.

Usage: python scripts/make_tables.py [--check], with the laboratory installed or PYTHONPATH=bench
"""

import json
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import get_args

from topicvec_bench.classify import Protocol
from topicvec_bench.corpora import HELD_OUT
from topicvec_bench.registry import METHODS
from topicvec_bench.results import Results, Row, Spread, Summary, summarize

from names_page import names_page
from retrieval_page import retrieval_page
from topics_page import topics_page
from words_page import words_page

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGES = ROOT / "docs" / "explanation"
TITLES = {"20news": "20 Newsgroups", "reuters": "Reuters, ten classes"}
APART = 3.0  # points of F1 from the paper that need a word

HEAD = """# The paper's table 2, measured again

Made from `benchmarks/results/table2.json` by `scripts/make_tables.py`; the results by

<!-- not run: it takes hours and the corpora -->
```sh
topicvec-bench table2 --corpus both --seeds {n_seeds} -o benchmarks/results/table2.json
```

These figures were made with the embedded vectors of 80,000 words, before there were 100,000, and
with the start of then; the rows of TopicVec are topics without words of their own (α = 0.1).

Documents are cut into words by the default tokenizer; stop words and words without a vector are
dropped, and so are documents without a word left: the same for all methods. On 20 Newsgroups the
training posts have many words that the embedded vectors do not know; those that they have at
least twice get vectors from their neighbours there (`--min-count 2`), and so count for all
methods. Features are learned on the training documents only. The form of TopicVec's features, its
norm on Reuters, the number of topics of TV+MeanWV there and `--min-count` were chosen on [parts of
the training documents](#how-the-settings-were-chosen), never on the test documents; the other
numbers of topics and the settings of the other methods are the paper's, or their packages'
defaults. TopicVec has the paper's number of features; TV+MeanWV has it on Reuters and fewer on 20
Newsgroups. Then a linear support vector machine, each class against the rest, tells the classes of
the test documents:

- **the paper's protocol**: l1 penalty, C = 1, on the features as they are;
- **the stronger protocol**: l2 penalty; C (0.1, 1 or 10 for rows of median length 1), and whether
  features are standardised, chosen by cross-validation on the training documents, so that no
  method is judged by the scale of its features.

Precision, recall and F1 are means over the classes, in percent; ± is the standard deviation over
seeds. Methods with † learn their features from the classes of the training documents too, as in
the paper. Seconds are those to learn and describe all documents, without the classifiers. All
rows of the paper's table and TF-IDF, with one seed and on both corpora, took 60 minutes in one run
on two cores, classifiers included. Rows without ± are of one seed. LDA-Gibbs, ETM, BERTopic and
FASTopic have been run on Reuters only so far: they are slow on 20 Newsgroups (ETM took more than
20 minutes).

TopicVec's features are how much of each topic's words a document has (the form `own-words` of
[represent](../how-to/classify.md#forms-of-a-document)): P(w|k) is drawn from what the vectors say
towards what the training documents had. TV+MeanWV shares words more sharply among its topics,
and puts the mean word vector beside them.
"""

CHOICES_HEAD = """## How the settings were chosen

By `benchmarks/choices.py` (`benchmarks/results/choices.json`): each trial learns on 72% of the
training documents of each class and classifies the others, the last ones (`--corpus
reuters-heldout`) or random ones (`reuters-heldout1` to `reuters-heldout3`). F1 by the paper's
protocol / by the stronger one, means over two seeds on Reuters, one on 20 Newsgroups. The corpora
are roughly in the order of time, so the last documents are most like the test documents. The form
makes a difference on 20 Newsgroups; on Reuters the differences are small against what another
part or another seed changes.
"""


def cell(value: object) -> str:
    return "–" if value is None else str(value)


def row(each: Summary) -> str:
    name = f"{each.method}{' †' if METHODS[each.method].uses_classes else ''}"
    if each.skipped:
        return f"| {name} | – | – | – | – | – | {cell(each.paper_f1)} | – |"
    cells = (
        f"{each.n_features:,}",
        *map(cell, (each.precision, each.recall, each.f1, each.strong_f1, each.paper_f1)),
        f"{each.seconds:.0f}",
    )
    return f"| {name} | {' | '.join(cells)} |"


def is_apart(each: Summary) -> bool:
    known = each.f1 is not None and each.paper_f1 is not None
    return known and abs(each.f1.mean - each.paper_f1) > APART


def remarks(summaries: list[Summary]) -> list[str]:
    skipped = [f"- {each.method} was skipped: {each.skipped}" for each in summaries if each.skipped]
    apart = [
        f"- {each.method} ({each.f1.mean - each.paper_f1:+.1f} against the paper): "
        f"{METHODS[each.method].about}"
        for each in summaries
        if is_apart(each)
    ]
    return [*apart, *skipped]


def section(corpus: str, summaries: list[Summary]) -> str:
    lines = [
        f"## {TITLES[corpus]}",
        "",
        "| method | features | P | R | F1 | F1, stronger protocol | F1 in the paper | seconds |",
        "|---|---|---|---|---|---|---|---|",
        *map(row, summaries),
    ]
    found = remarks(summaries)
    if found:
        lines += ["", f"More than {APART:.0f} points from the paper, or not run:", "", *found]
    return "\n".join(lines) + "\n"


def check_alike(rows: Sequence[Row]) -> None:
    """Refuse a table whose rows are not of the same words, or a mean over unlike runs."""
    for corpus in {row.corpus for row in rows}:
        if len({row.vectors for row in rows if row.corpus == corpus}) > 1:
            raise SystemExit(f"the rows of {corpus} have different vectors: run them again")
    for one, other in combinations(rows, 2):
        same = (one.corpus, one.method) == (other.corpus, other.method)
        if same and one.settings != other.settings:
            raise SystemExit(f"{one.corpus} {one.method}: seeds with different settings")


def table2_page() -> str:
    results = Results.read(RESULTS / "table2.json")
    check_alike(results.rows)
    summaries = summarize(results.rows, METHODS)
    corpora = [corpus for corpus in TITLES if any(each.corpus == corpus for each in summaries)]
    n_seeds = 1 + max(row.seed for row in results.rows)
    sections = [
        section(corpus, [each for each in summaries if each.corpus == corpus]) for corpus in corpora
    ]
    return "\n".join([HEAD.format(n_seeds=n_seeds), *sections, choices_section()])


def choices_section() -> str:
    trials = json.loads((RESULTS / "choices.json").read_text(encoding="utf-8"))["trials"]
    lines = [CHOICES_HEAD, "| corpus | method | settings | last documents | random parts |"]
    lines.append("|---|---|---|---|---|")
    for corpus in TITLES:
        own = [each for each in trials if each["corpus"].startswith(f"{corpus}{HELD_OUT}")]
        for key in dict.fromkeys((each["method"], json.dumps(each["change"])) for each in own):
            same = [each for each in own if (each["method"], json.dumps(each["change"])) == key]
            last = [each["f1"] for each in same if each["corpus"].endswith(HELD_OUT)]
            others = [each["f1"] for each in same if not each["corpus"].endswith(HELD_OUT)]
            change = ", ".join(f"`{name}={value!r}`" for name, value in same[0]["change"].items())
            cells = (TITLES[corpus], key[0], change, both_means(last), both_means(others))
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def both_means(scores: list[dict[str, list[float]]]) -> str:
    protocols = ([f1 for each in scores for f1 in each[name]] for name in get_args(Protocol))
    return " / ".join(f"{Spread.of(values).mean:.1f}" for values in protocols) if scores else "–"


def main() -> int:
    pages = {
        "tables.md": table2_page(),
        "topic-quality.md": topics_page(RESULTS),
        "topics.md": names_page(RESULTS),
        "words.md": words_page(RESULTS),
        "retrieval.md": retrieval_page(RESULTS),
    }
    stale = 0
    for name, text in pages.items():
        page = PAGES / name
        if "--check" not in sys.argv:
            page.write_text(text, encoding="utf-8")
        elif page.read_text(encoding="utf-8") != text:
            print(f"{page} is out of date: run python scripts/make_tables.py")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())

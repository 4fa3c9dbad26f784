"""Write the page of the paper's table 2 from the committed results.

Usage: python scripts/make_tables.py [--check]
"""

import sys
from pathlib import Path

from topicvec.evaluate.baselines import METHODS
from topicvec.evaluate.results import Results, Summary, summarize

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "table2.json"
PAGE = ROOT / "docs" / "explanation" / "tables.md"
TITLES = {"20news": "20 Newsgroups", "reuters": "Reuters, ten classes"}
APART = 3.0  # points of F1 from the paper that need a word

HEAD = """# The paper's table 2, measured again

Made from `benchmarks/results/table2.json` by `scripts/make_tables.py`; the results by

<!-- not run: it takes an hour and the corpora -->
```sh
topicvec bench table2 --corpus both --seeds {n_seeds} -o benchmarks/results/table2.json
```

Documents are cut into words by the default tokenizer; stop words and words without a vector are
dropped, and so are documents without a word left: the same for all methods. On 20 Newsgroups the
training posts have many words that the embedded vectors do not know; those that they have at
least twice get vectors from their neighbours there (`--min-count 2`), and so count for all
methods. Features are learned on the training documents only, and settings were chosen on the last
28% of each class of them (`--corpus 20news-heldout`), not on the test documents. Then a linear
support vector machine, each class against the rest, tells the classes of the test documents:

- **the paper's protocol**: l1 penalty, C = 1, on the features as they are;
- **the stronger protocol**: l2 penalty; C, and whether features are standardised, chosen by
  cross-validation on the training documents, so that no method is judged by the scale of its
  features.

Precision, recall and F1 are means over the classes, in percent; ± is the standard deviation over
seeds. Methods with † learn their features from the classes of the training documents too, as in
the paper. Seconds are those to learn and describe all documents, without the classifiers.

TopicVec's features are how much of each topic's words a document has (the form `own-words` of
[represent](../how-to/classify.md#forms-of-a-document)): P(w|k) is drawn from what the vectors say
towards what the training documents had. TV+MeanWV puts the mean word vector beside them.
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


def page() -> str:
    results = Results.read(RESULTS)
    summaries = summarize(results.rows, METHODS)
    corpora = [corpus for corpus in TITLES if any(each.corpus == corpus for each in summaries)]
    n_seeds = 1 + max(row.seed for row in results.rows)
    sections = [
        section(corpus, [each for each in summaries if each.corpus == corpus]) for corpus in corpora
    ]
    return "\n".join([HEAD.format(n_seeds=n_seeds), *sections])


def main() -> int:
    if "--check" in sys.argv:
        if PAGE.read_text(encoding="utf-8") == page():
            return 0
        print(f"{PAGE} is out of date: run python scripts/make_tables.py")
        return 1
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The page of what corpus vectors and own words bring, from ``benchmarks/results/words.json``."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TITLES = {
    "20news": "20 Newsgroups",
    "reuters": "Reuters, ten classes",
    "searchsnippets": "Search snippets",
    "tweets": "Tweets",
    "biomedical": "Biomedical titles",
    "m10": "Citation titles (M10)",
    "italian": "Italian abstracts",
}
COLUMNS = {
    "NMI": ("nmi", ".3f"),
    "NPMI": ("npmi", ".3f"),
    "perplexity": ("perplexity", ",.0f"),
    "F1": ("f1", ".3f"),
    "seconds": ("seconds", ",.1f"),
}
BUSY = 2.5  # load of two cores that have more to do than one fit

HEAD = """# Words of the text at hand

What it brings to learn word vectors from the corpus, to give topics words of their own and to
join phrases, beside other ways to find groups in text. Made from
`benchmarks/results/words.json` by `scripts/make_tables.py`; the results by

<!-- not run: it takes hours and the corpora -->
```sh
python benchmarks/words.py --cache FOLDER
```

Of 20 Newsgroups and Reuters these are the documents of the training part; the test part is not
touched. Of every corpus four fifths of each class are there to learn from and a fifth is held
out, the same for all systems and seeds. Systems have as many topics as there are classes, and
TopicVec the null topic beside them; none is told the classes.
The few constants of the default were settled while looking at these corpora
([which](model.md#vectors-that-learn-from-the-text)), so figures on others are worth more.

The rows; each with a + takes over what the row before it has:

{rows}

Italian takes `vectors="corpus"` in all of them but the first, since the general vectors are
English, so three rows fall away there. The rows with the corpus's frequencies and with the
corpus's vectors alone are controls: what they gain is not gained by joining vectors.

The peers are latent Dirichlet allocation by tomotopy with its own settings, {sweeps:,} sweeps
and one thread; NMF of scikit-learn on TF-IDF with logarithmic counts; and k-means, the best of
ten starts, on sentence vectors of all-MiniLM-L6-v2, which reads the first 256 pieces of words
of a text. LDA and NMF get the tokens of the common vocabulary: the words that at least three of the
documents to learn from have, without the longer list of English stop words (the Italian text
comes lemmatised and without stop words). TopicVec and the encoder read the texts.

- **NMI** of each document's largest topic, the null topic not counted, with its class; over all
  documents, those to learn from and those held out.
- **NPMI** of each topic's first ten words of the common vocabulary in all documents, windows of
  ten tokens. A phrase is passed over and the next word taken, since peers have none. Clusters of
  the encoder list words by class-based TF-IDF.
- **Perplexity** of half of the tokens of each held-out document given the other half; lower is
  better. Each topic is normalised over the common vocabulary. A phrase counts as its words: its
  probability goes to each of them, and tokens are foretold one by one, so that knowing that
  "york" follows "new" is worth nothing. Words that a model does not know share, in proportion to
  their counts, the part that they have of the tokens to learn from; "known" is the others' part.
  Mixtures are posterior means under each model's own topics and prior, by one and the same
  sampler for all (Gibbs, 100 sweeps after 20), so that topics are compared and not ways to infer
  a mixture. "Word frequencies alone" foretells each word
  by its share of the tokens to learn from, without topics. NMF and k-means have no distributions
  over words.
- **F1**, the mean over classes, of a linear SVM that learns the classes from the square roots of
  the mixtures, on the held-out documents.
- **Seconds** of a fit, one at a time; from texts for TopicVec, from tokens for LDA and NMF, with
  the encoding of all texts for k-means.

Means over seeds ± standard deviation; without ± there is one seed only.
"""


def words_page(results: Path) -> str:
    """Write the page."""
    found = json.loads((results / "words.json").read_text(encoding="utf-8"))
    rows = "\n".join(f"- **{name}**: {about}" for name, about in found["rows"].items())
    corpora = [corpus for corpus in TITLES if corpus in found["means"]]
    return "\n".join(
        [
            HEAD.format(rows=rows, sweeps=found["sweeps"]),
            goals_section(found["goals"]),
            *(corpus_section(corpus, found) for corpus in corpora),
            circumstances_section(found),
        ]
    )


def goals_section(goals: list[dict[str, Any]]) -> str:
    lines = [
        "## Goals, and whether they hold",
        "",
        "| goal for the row all | holds on | fails on |",
    ]
    lines.append("|---|---|---|")
    for each in goals:
        fails = _named(each["fails"], each.get("worse", {}))
        lines.append(f"| {each['goal']} | {_named(each['holds'])} | {fails} |")
    unknown = sorted({corpus for each in goals for corpus in each["unknown"]})
    if unknown:
        lines += ["", f"Not known yet, as rows are missing: {_named(unknown)}."]
    return "\n".join(lines) + "\n"


def _named(corpora: list[str], remarks: Mapping[str, list[str]] | None = None) -> str:
    """List corpora by their titles, each with the measures that a remark names."""
    heads = {key: head for head, (key, _) in COLUMNS.items()}
    named = [
        TITLES[corpus] + "".join(f" ({heads[key]})" for key in (remarks or {}).get(corpus, ()))
        for corpus in TITLES
        if corpus in corpora
    ]
    return ", ".join(named) or "–"


def corpus_section(corpus: str, found: Mapping[str, Any]) -> str:
    facts, rows = found["corpora"][corpus], found["means"][corpus]
    return "\n".join(
        [
            f"## {TITLES[corpus]}",
            "",
            f"{facts['documents']:,} documents to learn from with {facts['tokens']:,} tokens of "
            f"{facts['words']:,} words, {facts['held_out']:,} held out, {facts['classes']} classes"
            f"{left_out(facts['left_out'])}.",
            "",
            f"| system | {' | '.join(COLUMNS)} | known |",
            f"|---|{'---|' * (len(COLUMNS) + 1)}",
            *(_row(name, measured) for name, measured in rows.items()),
            f"| word frequencies alone | – | – | {facts['unigram_perplexity']:,.0f} | – | – | – |",
            "",
        ]
    )


def left_out(number: int) -> str:
    """Say how many documents are left out, if any are."""
    return f"; {number} without a word of the common vocabulary are left out" if number else ""


def _row(name: str, measured: Mapping[str, Mapping[str, float]]) -> str:
    cells = [spread_cell(measured.get(key), form) for key, form in COLUMNS.values()]
    return f"| {name} | {' | '.join(cells)} | {measured['known']['mean']:.0%} |"


def spread_cell(spread: Mapping[str, float] | None, form: str) -> str:
    """Write a mean, with the deviation if there are several values."""
    if spread is None:
        return "–"
    mean = format(spread["mean"], form)
    return mean if spread["n"] < 2 else f"{mean} ± {format(spread['deviation'], form)}"


def circumstances_section(found: Mapping[str, Any]) -> str:
    """Say by what the figures were made, and where the machine was busy with other work."""
    runs = found["runs"]
    before = sorted({run["code"] for run in runs if run["row"] == "default before"})
    busy = [run for run in runs if run["load"] > BUSY]
    lines = [
        "## How these runs were made",
        "",
        f"On {found['machine']}; `default before` is the code of commit {', '.join(before)}. "
        f"Threads of linear algebra: {', '.join(sorted({run['threads'] for run in runs}))}.",
    ]
    if busy:
        lines.append(
            f"{len(busy)} of the {len(runs)} fits were made while the machine did other work too, "
            "so their seconds are too many; the other figures do not depend on it."
        )
    return "\n".join(lines) + "\n"

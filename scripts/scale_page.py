"""The page of sizes: what the benchmark of scale measured, and a plan on paper made of it."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

HEAD = """# From one article to a corpus larger than a machine

Made by `scripts/make_tables.py` from `benchmarks/results/scale.json`; the results by

<!-- not run: it takes many minutes and the corpora -->
```sh
TOPICVEC_DATA=/path/to/data python benchmarks/scale.py growth cores peers million dask plot
```

Documents are pieces of 80 running words of Wikipedia, K = 100 topics unless a line says otherwise,
and seconds are those of a machine with two cores on which nothing else ran.

## Why it adds up

All that topics are learned from are sums over documents: tokens of words in topics, their total,
the bound. So a corpus is cut into shards, by the documents alone, and what shards say is added in
their order: the bits are the same in one thread, in many, and on a cluster.

An E-step passes over all topics of a document once. After that it goes on with the topics that
have more than a trace of the document: of a hundred, six in a newsgroup's post and two or three in
a sentence. What is left out is less than a pass may leave unsettled (`inner_tol`, a hundredth of
the tokens), and the bound is exactly that of what is kept."""

PLAN = """## A billion documents on a hundred machines, on paper

The plan below multiplies; nobody has run it. Documents have {tokens} tokens of {cells} different
known words; {words:,} words have vectors of N = {dims}; a machine has {cores} cores, a network of
{network} GB a second, and costs {price} dollars an hour; a fit takes {iterations} iterations.

| what | of all | of a machine |
|---|---|---|
| documents as counts, 16 bytes a cell | {counts:,.0f} GB | {counts_each:,.1f} GB |
| mixtures, 4 K bytes a document | {theta:,.0f} GB | {theta_each:,.1f} GB |
| table of words, 4 K bytes a word | | {table:,.1f} GB |
| sums of documents, 4 K bytes a word | | {table:,.1f} GB |"""

PLAN_TIMES = """
A core takes {speed:,} tokens a second (measured with Dask, below). The documents of an iteration
are then {seconds:,.0f} seconds of {all_cores:,} cores, a fit {hours:,.1f} hours and {cost:,.0f}
dollars, if nothing waits."""

BREAKS = """
Mixtures stay in files beside their documents, and sums are added on the way, so an iteration moves
2 · 4 · K · N bytes for each worker, {least:.2f} MB, without words of their own. With them the table
of words and the sums, {table:,.1f} GB each, go in and out of each worker. What breaks first is the
process of the client, which sends the table to all: with one worker a machine {sent:,.0f} GB an
iteration, at {network} GB a second {waiting:,.0f} seconds. A broadcast from worker to worker would
mend it. Next is the number of groups, {groups:,}: they are {tasks:,} tasks an iteration, at some
4,000 a second of a scheduler {scheduling:,.0f} seconds, and as many calls as groups, of about a
millisecond each, tell workers the files of mixtures. Groups would have to grow with the corpus.
Then the memory of the client: the general vectors and nine tables of all words, {client:,.1f}
GB."""

D, MACHINES, CORES, K, N, WORDS = 1_000_000_000, 100, 16, 100, 400, 1_000_000
TOKENS, CELLS, NETWORK, PRICE, ITERATIONS = 39, 33, 1.25, 0.7, 30
GROUP_COST, TASKS = 2_000_000, 4_000  # see `group_shards`; that a scheduler of Dask does a second


def scale_page(results: Path) -> str:
    """Write the page; a part that has no result yet is left out."""
    path = results / "scale.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    parts = {
        "growth": growth, "cores": cores, "million": million, "peers": peers, "dask": cluster
    }  # fmt: skip
    measured = [line for name, part in parts.items() if name in found for line in part(found[name])]
    return "\n".join([HEAD, "", *measured, *plan(found.get("dask")), ""])


def growth(found: Mapping[str, Any]) -> Iterator[str]:
    yield (
        "## Growth\n\nEach size doubled three times, the others as they are: 32,000 documents of "
        "80 running words, 50 topics, 100 dims, a vocabulary of 20,000, eight iterations.\n"
    )
    yield "![Seconds over each size](../../benchmarks/results/scale.svg)\n"
    yield "| what | sizes | seconds of a fit | times, for eight times as much |\n|---|---|---|---|"
    for name, rows in found.items():
        seconds = [row["seconds"] for row in rows.values()]
        title = {"length": "words a document", "words": "vocabulary"}.get(name, name)
        sizes = ", ".join(f"{int(size):,}" for size in rows)
        told = ", ".join(f"{each:.1f}" for each in seconds)
        yield f"| {title} | {sizes} | {told} | {seconds[-1] / seconds[0]:.1f} |"
    yield ""


def cores(found: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"## One core and two\n\nFrom {found['documents']:,} texts to topics, "
        f"{found['times as fast']} times as fast. Two fits of one core each that run side by side "
        f"are {found['two fits side by side, times as fast']} times as fast as one after the "
        "other, which is what a second core is worth on this machine.\n"
    )
    names = [name for name in found["one"] if name != "tokens"]
    yield f"| cores | {' | '.join(names)} |\n|---{'|---' * len(names)}|"
    for each in ("one", "two"):
        yield f"| {each} | {' | '.join(str(found[each][name]) for name in names)} |"
    yield ""


def million(found: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"## A million documents\n\n{found['documents']:,} documents from raw text to a saved model"
        f" with `--memory {found['budget']}`: {found['seconds']:,.0f} seconds, "
        f"{found['documents a second']:,} documents a second.\n"
    )
    yield "| step | seconds | peak MB |\n|---|---|---|"
    for step in ("prepare", "fit"):
        yield f"| {step} | {found[step]['seconds']} | {found[step]['peak MB']:,} |"
    yield ""


def peers(found: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"## Beside other models\n\n{found['documents']:,} documents, the same tokens for all, each"
        f" to its own stop; then half of the words of {found['test documents']:,} other documents "
        "are foretold from the other half, by one judge for all. TopicVec stops by itself and uses "
        "both cores. The others use one, with which their results repeat, and would at best halve "
        "their seconds on two; tomotopy makes 500 sweeps, gensim 20 passes, scikit-learn 10.\n"
    )
    yield "| model | seconds | perplexity |\n|---|---|---|"
    for name, row in found.items():
        if isinstance(row, dict):
            yield f"| {name} | {row['seconds']} | {row['perplexity']} |"
    yield ""


def cluster(found: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"## Dask\n\n{found['documents']:,} documents, {found['tokens']:,} tokens, processes of "
        "one machine. [What travels](../how-to/dask.md#what-travels).\n"
    )
    rows = {name: row for name, row in found.items() if isinstance(row, dict)}
    names = list(next(iter(rows.values())))
    names[1] = "times 2 · 4 · K · N of each worker; with own words U for N"
    yield f"| workers | {' | '.join(names)} |\n|---{'|---' * len(names)}|"
    for name, row in rows.items():
        told = name.replace("1 workers", "1 worker")
        yield f"| {told} | {' | '.join(f'{value:,}' for value in row.values())} |"
    yield (
        "\nWith words of their own the mixtures that are fetched now and then are in the bytes.\n"
    )


def plan(measured: Mapping[str, Any] | None) -> Iterator[str]:
    """Multiply; times only with a measured speed."""
    groups = D * (CELLS + 4) // GROUP_COST
    counts, theta, table = 16 * CELLS * D / 1e9, 4 * K * D / 1e9, 4 * K * WORDS / 1e9
    sent = MACHINES * table
    known = {
        "tokens": TOKENS, "cells": CELLS, "words": WORDS, "dims": N, "cores": CORES,
        "network": NETWORK, "price": PRICE, "iterations": ITERATIONS, "counts": counts,
        "counts_each": counts / MACHINES, "theta": theta, "theta_each": theta / MACHINES,
        "table": table, "sent": sent, "waiting": sent / NETWORK, "least": 8 * K * N / 1e6,
        "groups": groups, "tasks": 4 * groups, "scheduling": 4 * groups / TASKS,
        "client": 4 * N * WORDS / 1e9 + 9 * table,
    }  # fmt: skip
    yield PLAN.format(**known)
    if measured:
        rows = [row for row in measured.values() if isinstance(row, dict)]
        speed = min(row["tokens a second a core"] for row in rows)
        seconds = TOKENS * D / (speed * MACHINES * CORES)
        hours = seconds * ITERATIONS / 3600
        yield PLAN_TIMES.format(
            speed=speed, seconds=seconds, hours=hours, cost=hours * MACHINES * PRICE,
            all_cores=MACHINES * CORES,
        )  # fmt: skip
    yield BREAKS.format(**known)

"""How fast the explorer feels on 20 Newsgroups, from the browser's own timings.

Usage: TOPICVEC_DATA=… python benchmarks/explorer.py [--topics 50] [--repeats 7]
Needs Chromium and the extras explore and browser.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from news import load
from playwright.sync_api import Page, sync_playwright

from topicvec import TopicVec

RESULTS = Path(__file__).parent / "results" / "explorer.json"
LIMITS = {  # milliseconds
    "first contentful paint": 1000,
    "open a topic": 100,
    "open a document": 100,
    "filter topics": 100,
    "search": 100,
    "highlight a topic": 100,
    "paste 1,000 words": 300,
}

# From the event until the page has drawn what was asked for, by the page's own clock: the
# event is sent and the drawing is seen by the same script, two frames after the change.
TIMED = """async ([act, done]) => {
  const shown = new Function("return (" + done + ")");
  const start = performance.now();
  new Function(act)();
  while (!shown()) {
    if (performance.now() - start > 20000) throw new Error("never shown: " + done);
    await new Promise(requestAnimationFrame);
  }
  await new Promise(requestAnimationFrame);
  return performance.now() - start;
}"""


def prepare(folder: Path, n_topics: int) -> tuple[Path, Path]:
    parts = [load("train"), load("test")]
    rows = [
        {"id": str(number), "label": group, "text": text}
        for number, (text, group) in enumerate(
            pair for part in parts for pair in zip(part.texts, part.groups, strict=True)
        )
    ]
    corpus, model = folder / "news.jsonl", folder / "news.topicvec"
    corpus.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    TopicVec(n_topics=n_topics, random_state=0).fit([row["text"] for row in rows]).save(model)
    return model, corpus


@contextmanager
def explorer(model: Path, corpus: Path) -> Iterator[tuple[str, float]]:
    """Start the explorer and give its address and how many seconds it took to answer."""
    command = [sys.executable, "-m", "topicvec", "explore", model, corpus]
    start = time.perf_counter()
    with subprocess.Popen(
        [*command, "--port", "0", "--no-browser", "--title", "20 Newsgroups"],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), time.perf_counter() - start
        finally:
            process.terminate()


def first_paint(browser: Any, address: str) -> float:
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector(".bubble")
    paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    found: float = page.evaluate(paint)
    context.close()
    return found


def map_drawn(browser: Any, address: str) -> float:
    """Milliseconds from navigation until the map of topics is there."""
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto(address, wait_until="commit")
    found: float = page.evaluate(
        """async () => {
        while (!document.querySelector('.bubble')) await new Promise(requestAnimationFrame);
        return performance.now(); }"""
    )
    context.close()
    return found


def timed(page: Page, act: str, done: str) -> float:
    found: float = page.evaluate(TIMED, [act, done])
    return found


def interactions(page: Page, address: str, words: str) -> dict[str, Callable[[int], float]]:
    def go(to: str, done: str) -> float:
        page.goto(f"{address}#/none")
        page.wait_for_selector("text=No such page")
        return timed(page, f"location.hash = {to!r}", done)

    def paste(number: int) -> float:
        page.goto(f"{address}#/none")
        page.wait_for_selector("text=No such page")
        page.goto(f"{address}#/paste?text=+")
        page.wait_for_selector("textarea")
        text = json.dumps(f"{words} {number}")
        act = f"const f = document.querySelector('textarea'); f.value = {text}; "
        done = "document.querySelector('.view-paste .text mark')"
        return timed(page, f"{act} f.dispatchEvent(new Event('input'))", done)

    def filtered(number: int) -> float:
        page.goto(f"{address}#/none")
        page.wait_for_selector("text=No such page")
        page.goto(f"{address}#/?order={number}")
        page.wait_for_selector(".topics li")
        act = "const f = document.querySelector('.controls input'); f.value = 'space'; "
        done = "document.querySelector('.topics .hit')"
        return timed(page, f"{act} f.dispatchEvent(new Event('input'))", done)

    def highlighted(number: int) -> float:
        page.goto(f"{address}#/none")
        page.wait_for_selector("text=No such page")
        page.goto(f"{address}#/document/{number + 100}")
        page.wait_for_selector(".mixture button")
        act = "document.querySelector('.mixture button').click()"
        return timed(page, act, "document.querySelector('[aria-pressed=true]')")

    return {
        "open a topic": lambda n: go(f"#/topic/{n + 1}", "document.querySelector('.view-topic')"),
        "open a document": lambda n: go(
            f"#/document/{n * 1009 + 2}", "document.querySelector('.view-document')"
        ),
        "search": lambda n: go(
            f"#/search?q=space+shuttle+{n}", "document.querySelector('.view-search .document')"
        ),
        "filter topics": filtered,
        "highlight a topic": highlighted,
        "paste 1,000 words": paste,
    }


def thousand_words(corpus: Path) -> str:
    with corpus.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in islice(lines, 40)]
    return " ".join(" ".join(texts).split()[:1000])


def measure(address: str, words: str, repeats: int) -> dict[str, list[float]]:
    path = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        times = {
            "first contentful paint": [first_paint(browser, address) for _ in range(repeats)],
            "map of topics": [map_drawn(browser, address) for _ in range(repeats)],
        }
        # the timing script itself is made from text, which the page's policy would not allow
        page = browser.new_context(bypass_csp=True).new_page()
        for name, act in interactions(page, address, words).items():
            act(repeats)  # once to warm up
            times[name] = [act(number) for number in range(repeats)]
            print(name, [round(value) for value in times[name]], file=sys.stderr)
        browser.close()
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--model", type=Path, help="a fitted model, with --corpus")
    parser.add_argument("--corpus", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.model:
            model, corpus = given.model, given.corpus
        else:
            model, corpus = prepare(Path(folder), given.topics)
        with explorer(model, corpus) as (address, seconds):
            times = measure(address, thousand_words(corpus), given.repeats)
    milliseconds = {
        name: {
            "median": round(statistics.median(values), 1),
            "largest": round(max(values), 1),
            "limit": LIMITS.get(name),
        }
        for name, values in times.items()
    }
    result = {
        "corpus": "20 Newsgroups, 18,846 documents, 50 topics",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "load average after": round(os.getloadavg()[0], 1),
        "seconds until it answers": round(seconds, 1),
        "milliseconds": milliseconds,
    }
    RESULTS.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()

"""The explorer and a report in a real Chromium; nothing is downloaded but the tests' packages."""

import shutil
import threading
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import sync_playwright

from topicvec import TopicVec, datasets
from topicvec.explore import Collection, serve, write_report
from topicvec.text import Document

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 860}
ODD = {
    "script": "<script>window.broken = 1</script><img src=x onerror='window.broken = 2'> music",
    "emoji": "🎻 music 👩‍🚀 planets and 🌧️ rain",
    "arabic": "الموسيقى والمطر music in the middle وكواكب",
    "unknown": "qqqzzz wwwvvv",
    "long": "The orchestra played music. Rain fell on the sea. " * 20_000,
}


@pytest.fixture(scope="session")
def collection():
    documents = datasets.sample_corpus()
    model = TopicVec(n_topics=15, random_state=0).fit(documents)
    odd_ones = [Document(name, text) for name, text in ODD.items()]
    return Collection.build(model, [*documents, *odd_ones], "A <i>small</i> corpus")


@pytest.fixture(scope="session")
def odd():
    """Places of the documents that are hard to show."""
    return {name: len(datasets.sample_corpus()) + i for i, name in enumerate(ODD)}


@pytest.fixture(scope="session")
def address(collection):
    """The explorer's address."""
    found, ready = [], threading.Event()
    stop = threading.Event()

    def tell(address):
        found.append(address)
        ready.set()

    thread = threading.Thread(
        target=serve, args=(collection,), kwargs={"ready": tell, "stop": stop}
    )
    thread.start()
    assert ready.wait(60)
    yield found[0]
    stop.set()
    thread.join(20)


@pytest.fixture(scope="session")
def report(collection, tmp_path_factory):
    """Address of a report on disk."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    return write_report(path, collection).as_uri()


@pytest.fixture(scope="session")
def browser():
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.exit("the browser tests need Chromium: apt-get install chromium", returncode=2)
    with sync_playwright() as playwright:
        # --no-sandbox: tests may run as root, and they show nothing but this program's own pages
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser):
    """Open pages that must not complain or ask anyone else; checked at the end of each test."""
    contexts, complaints, requests = [], [], []

    def open_(address, **options):
        context = browser.new_context(**{"viewport": DESK, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda m: complaints.append(m.text) if m.type in BAD else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address)
        page.wait_for_selector("h1")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []
    outside = [url for url in requests if urlsplit(url).hostname not in (None, "", "127.0.0.1")]
    assert outside == []


BAD = ("error", "warning")

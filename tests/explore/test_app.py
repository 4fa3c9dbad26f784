import asyncio
import json
import re
import threading
import time
from dataclasses import asdict

import httpx
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from topicvec.explore import safety
from topicvec.explore.app import create_app
from topicvec.explore.endpoints import ENDPOINTS

HERE = "http://127.0.0.1"


class Client:
    """Asks the application without a network."""

    def __init__(self, app):
        self.app = app

    def get(self, path, **options):
        return asyncio.run(self._ask("GET", path, **options))

    def post(self, path, **options):
        return asyncio.run(self._ask("POST", path, **options))

    def ask(self, method, path):
        return asyncio.run(self._ask(method, path))

    async def _ask(self, method, path, **options):
        transport = httpx.ASGITransport(app=self.app)
        async with httpx.AsyncClient(transport=transport, base_url=HERE) as client:
            return await client.request(method, path, **options)


@pytest.fixture(scope="module")
def client(collection):
    return Client(create_app(collection))


def plain(record):
    return json.loads(json.dumps(asdict(record)))


def test_records_come_as_json(client, collection):
    assert client.get("/api/overview").json() == plain(collection.overview)
    assert client.get("/api/documents/3").json() == plain(collection.document(3))
    topic = collection.topics[0].index
    assert client.get(f"/api/topics/{topic}").json() == plain(collection.topic(topic))


def test_documents_are_searched(client, collection):
    answer = client.get("/api/documents", params={"q": "telescopes and comets", "n": 3}).json()
    assert answer == plain(collection.find("telescopes and comets", n=3))
    assert len(answer["documents"]) == 3


def test_any_text_is_described(client):
    answer = client.post("/api/analyse", json={"text": "The orchestra played music."}).json()
    assert answer["view"]["spans"][1][0] == "orchestra"


def test_a_long_text_goes_on(client, odd):
    part = client.get(f"/api/documents/{odd['long']}").json()["view"]
    more = client.get(f"/api/documents/{odd['long']}/text", params={"start": part["next"]}).json()
    assert more["spans"]
    assert more["next"] > part["next"]


def test_clouds_are_pictures(client, collection):
    for path in ("/api/cloud.svg", f"/api/topics/{collection.topics[0].index}/cloud.svg"):
        answer = client.get(path)
        assert answer.headers["content-type"] == "image/svg+xml"
        assert answer.text.startswith("<svg")


@pytest.mark.parametrize(
    "path", ["/", "/index.html", "/base.css", "/shell.js", "/api", "/icon.svg"]
)
def test_files_are_served(client, path):
    assert client.get(path).status_code == 200


def test_a_file_that_the_browser_has_is_not_sent_again(client):
    first = client.get("/shell.js")
    again = client.get("/shell.js", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["content-security-policy"]
    assert client.get("/shell.js", headers={"If-None-Match": '"other"'}).content == first.content


@pytest.mark.parametrize(
    "path",
    [
        "/../app.py", "/..%2fapp.py", "/%2e%2e/app.py", "/static/index.html", "/etc/passwd",
        "//etc/passwd", "/base.css/", "/base.css%00", "/C:\\boot.ini", "/api/none",
    ],
)  # fmt: skip
def test_no_other_path_leads_anywhere(client, path):
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/topics/99", 404), ("/api/documents/99999", 404), ("/api/topics/x", 400),
        ("/api/documents/-1", 400), ("/api/documents?n=1000", 400), ("/api/documents?n=²", 400),
        ("/api/documents?topic=99", 404), ("/api/documents/1/text?start=9999999999999", 400),
        (f"/api/documents?q={'x' * 1001}", 400),
    ],
)  # fmt: skip
def test_bad_requests_are_told_so(client, path, status):
    answer = client.get(path)
    assert answer.status_code == status
    assert answer.json()["error"]


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b"{}", "application/json", 400),
        (b'{"text": 3}', "application/json", 400),
        (b'{"text": "\xff"}', "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b'{"text": "x"}', "text/plain", 415),
        (b"text=x", "application/x-www-form-urlencoded", 415),
        (b" " * (safety.LARGEST + 1), "application/json", 413),
    ],
)
def test_bad_bodies_are_refused(client, content, kind, status):
    answer = client.post("/api/analyse", content=content, headers={"content-type": kind})
    assert answer.status_code == status
    assert answer.json()["error"]


def test_a_body_without_an_end_is_cut_off(client):
    read = []

    async def endless():
        while len(read) < 1000:
            read.append(1)
            yield b" " * 2**16

    headers = {"content-type": "application/json"}
    assert client.post("/api/analyse", content=endless(), headers=headers).status_code == 413
    assert len(read) < 100


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
def test_another_name_is_not_answered(client, host):
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 421
    assert "topicvec" not in answer.text


@pytest.mark.parametrize("host", ["localhost", "localhost:8765", "127.0.0.1:1", "[::1]:8765"])
def test_the_computers_own_names_are_answered(client, host):
    assert client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("path", ["/", "/api/overview", "/api/none", "/shell.js"])
def test_every_answer_has_the_safe_headers(client, path):
    headers = client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_an_answer_that_takes_too_long_is_given_up(collection, monkeypatch):
    def analyse(*_):
        done = threading.Event()
        threading.Timer(1, done.set).start()  # from when the work begins, however busy the machine
        done.wait(30)

    monkeypatch.setattr(type(collection), "analyse", analyse)
    client = Client(create_app(collection, seconds=0.05))
    assert client.post("/api/analyse", json={"text": "music"}).status_code == 503


def test_odd_texts_travel_unchanged(client, collection, odd):
    for name in ("script", "emoji", "arabic", "surrogate"):
        spans = client.get(f"/api/documents/{odd[name]}").json()["view"]["spans"]
        assert "".join(text for text, _, _ in spans) == collection.documents[odd[name]].text


def test_the_description_is_valid_openapi(client):
    validate(client.get("/api/openapi.json").json())


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/api/overview", "/api/overview"),
        ("/api/topics/{topic}", "/api/topics/1"),
        ("/api/topics/{topic}", "/api/topics/99"),
        ("/api/documents", "/api/documents?q=comets"),
        ("/api/documents", "/api/documents?n=x"),
        ("/api/documents/{document}", "/api/documents/3"),
        ("/api/documents/{document}/text", "/api/documents/3/text"),
        ("/api/analyse", "/api/analyse"),
    ],
)
def test_answers_are_as_the_description_says(client, path, asked):
    described = client.get("/api/openapi.json").json()
    (method, operation), *_ = described["paths"][path].items()
    sent = {"json": {"text": "music and rain"}} if method == "post" else {}
    answer = getattr(client, method)(asked, **sent)
    content = operation["responses"][str(answer.status_code)]["content"]
    schema = content["application/json"]["schema"] | {"components": described["components"]}
    Draft202012Validator(schema).validate(answer.json())


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("POST", "/api/overview", "GET, HEAD"), ("DELETE", "/api/documents/1", "GET, HEAD"),
        ("GET", "/api/analyse", "POST"), ("PUT", "/api/analyse", "POST"),
        ("POST", "/", "GET, HEAD"), ("OPTIONS", "/shell.js", "GET, HEAD"),
    ],
)  # fmt: skip
def test_another_method_is_told_which_one_is_right(client, method, path, allow):
    answer = client.ask(method, path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allow)
    assert allow in answer.json()["error"]


def test_many_bodies_at_once_do_not_fill_the_memory(client, monkeypatch):
    monkeypatch.setattr(safety, "TOGETHER", 1000)
    assert client.post("/api/analyse", json={"text": "rain " * 300}).status_code == 503
    for _ in range(5):  # what was answered counts no more
        assert client.post("/api/analyse", json={"text": "rain " * 100}).status_code == 200


def test_an_answer_that_was_given_up_keeps_its_place_until_it_ends(collection, monkeypatch):
    running, most = [], []

    def analyse(*_):
        running.append(1)
        most.append(len(running))
        time.sleep(0.3)
        running.pop()

    monkeypatch.setattr(type(collection), "analyse", analyse)
    app = create_app(collection, seconds=0.05)

    async def many():
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url=HERE) as client:
            asked = [client.post("/api/analyse", json={"text": "music"}) for _ in range(8)]
            return [answer.status_code for answer in await asyncio.gather(*asked)]

    assert asyncio.run(many()) == [503] * 8
    assert max(most) <= 2


def test_the_description_fits_the_answers(client, collection):
    described = client.get("/api/openapi.json").json()
    assert set(described["paths"]) == {endpoint.path for endpoint in ENDPOINTS}
    schemas = described["components"]["schemas"]
    for path, name in (("/api/overview", "Overview"), ("/api/documents/0", "DocumentPage")):
        assert set(client.get(path).json()) == set(schemas[name]["properties"])
    used = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(described)))
    assert used == set(schemas)

import asyncio
import http.client
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

from topicvec.errors import DataError
from topicvec.explore import connections
from topicvec.explore.server import check_server, serve, warm_up

sys.path.insert(0, str(Path(__file__).parent))
from load import press, request


@pytest.fixture
def port(collection):
    """The port of a running explorer."""
    found, ready, stop = [], threading.Event(), threading.Event()

    def tell(address):
        found.append(int(address.rstrip("/").rpartition(":")[2]))
        ready.set()

    thread = threading.Thread(
        target=serve, args=(collection,), kwargs={"ready": tell, "stop": stop}
    )
    thread.start()
    assert ready.wait(30)
    yield found[0]
    stop.set()
    thread.join(20)
    assert not thread.is_alive()
    assert not [each for each in threading.enumerate() if "warm_up" in each.name]


def test_answers_are_sent_at_once(port, monkeypatch):
    sent = []
    accept = socket.socket.accept

    def watched(listener):
        connection, peer = accept(listener)
        sent.append(connection)
        return connection, peer

    monkeypatch.setattr(socket.socket, "accept", watched)
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    client.request("GET", "/api/overview")
    assert client.getresponse().read()
    # else the body waits for the acknowledgement of the head, which browsers delay by 40 ms
    assert sent[0].getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    client.close()


def test_a_port_in_use_is_told_before_the_work():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        with pytest.raises(DataError, match=f"port {number} .*choose another --port"):
            check_server(number)


def test_what_cannot_be_made_ahead_is_left_to_who_asks(collection, monkeypatch):
    drawn = []

    def draw(topics):
        drawn.append(len(topics))
        raise DataError("no topic has a word")

    monkeypatch.setattr("topicvec.explore.server.cloud_of", draw)
    warm_up(collection)
    assert len(drawn) > 1  # one failure does not end the others


def test_making_ahead_ends_when_told(collection, monkeypatch):
    drawn, stop = [], threading.Event()

    def draw(topics):
        drawn.append(topics)
        stop.set()

    monkeypatch.setattr("topicvec.explore.server.cloud_of", draw)
    warm_up(collection, stop)
    assert len(drawn) == 1


def _socket(port, sent=b""):
    made = socket.create_connection(("127.0.0.1", port), 10)
    made.sendall(sent)
    return made


def _asks(port):
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    client.request("GET", "/api/overview")
    found = client.getresponse()
    assert found.read()
    client.close()
    return found.status


def _is_closed(made, seconds):
    made.settimeout(seconds)
    try:
        return made.recv(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(connections, "QUIET", 0.3)
    monkeypatch.setattr(connections, "_REQUEST", 0.6)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /api/over",
        b"GET / HTTP/1.1\r\nhost: localhost\r\n",
        request("/api/analyse", {"text": "rain"})[:-5],
    ],
    ids=["nothing", "half a line", "half a head", "half a body"],
)
def test_who_does_not_send_a_whole_request_is_left(port, sent, capfd):
    made = _socket(port, sent)
    assert _is_closed(made, 20)
    assert _asks(port) == 200
    assert capfd.readouterr().err == ""
    made.close()


@pytest.mark.usefixtures("impatient")
def test_bytes_now_and_then_do_not_keep_a_connection(port):
    made, until = _socket(port, b"GET / HTTP/1.1\r\nx: "), time.monotonic() + 20
    while time.monotonic() < until and not _is_closed(made, 0.05):
        try:
            made.sendall(b"y")
        except OSError:
            break
    assert time.monotonic() < until
    made.close()


def test_who_leaves_in_the_middle_of_a_body_is_no_error(port, capfd):
    made = _socket(port, request("/api/analyse", {"text": "rain"})[:-5])
    made.close()
    assert _asks(port) == 200
    assert capfd.readouterr().err == ""


def test_idle_sockets_lock_nobody_out(port):
    held = [_socket(port) for _ in range(150)]
    assert _asks(port) == 200
    for each in held:
        each.close()


def test_a_new_connection_takes_the_place_of_the_quietest(collection, monkeypatch):
    made = connections.bounded
    monkeypatch.setattr(connections, "bounded", lambda: made(10))
    found, ready, stop = [], threading.Event(), threading.Event()

    def tell(address):
        found.append(int(address.rstrip("/").rpartition(":")[2]))
        ready.set()

    thread = threading.Thread(
        target=serve, args=(collection,), kwargs={"ready": tell, "stop": stop}
    )
    thread.start()
    assert ready.wait(30)
    held = [_socket(found[0]) for _ in range(14)]
    assert _asks(found[0]) == 200
    assert [_is_closed(each, 0.5) for each in held] == [True] * 5 + [False] * 9
    for each in held:
        each.close()
    stop.set()
    thread.join(20)


@pytest.mark.slow
def test_many_ask_while_many_more_hold_sockets(port):
    """The short form of ``benchmarks/trust.py server``."""
    found = asyncio.run(press(port, 4, n_asking=60, n_quiet=200, n_slow=50))
    assert found["errors"] == {}
    assert found["answers"] >= 60
    assert "refused" not in found["closed by the server"]

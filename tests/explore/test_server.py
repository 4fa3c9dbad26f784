import http.client
import socket
import threading

import pytest

from topicvec.errors import DataError
from topicvec.explore.server import check_server, serve, warm_up


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

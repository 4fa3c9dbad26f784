import http.client
import socket
import threading

import pytest

from topicvec.errors import DataError
from topicvec.explore.server import check_server, serve


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

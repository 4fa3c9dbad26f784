"""Many clients at once on this computer: some ask, some are quiet, some are slow."""

import asyncio
import json
import random
import time
from collections import Counter
from typing import Any

HOST = "127.0.0.1"
WORDS = ["rain", "music", "planets", "patients", "farmers", "trains"]
READS = [
    "/api/overview", "/api/topics/1", "/api/topics/2/cloud.svg", "/api/documents?q=rain+music&n=5",
    "/api/documents/3", "/api/documents/1/text?start=0", "/", "/shell.js",
]  # fmt: skip


def request(path: str, body: dict[str, Any] | None = None) -> bytes:
    """Write a request as a browser sends it."""
    content = b"" if body is None else json.dumps(body).encode()
    head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nhost: {HOST}\r\n"
    if body is not None:
        head += f"content-type: application/json\r\ncontent-length: {len(content)}\r\n"
    return head.encode() + b"\r\n" + content


async def answer(reader: asyncio.StreamReader) -> int:
    """Read an answer to its end and give its status."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
    await reader.readexactly(length)
    return int(head.split(b" ", 2)[1])


async def ask(port: int, until: float, rng: random.Random, times: list[float], bad: Counter[str]):
    """Ask on one connection, one question after the other."""
    reader, writer = await asyncio.open_connection(HOST, port)
    try:
        while time.monotonic() < until:
            text = " ".join(
                rng.choices(["rain", "music", "planets", "patients", "farmers", "trains"], k=40)
            )
            posts = rng.random() < 0.3
            sent = request("/api/analyse", {"text": text}) if posts else request(rng.choice(READS))
            start = time.perf_counter()
            writer.write(sent)
            status = await asyncio.wait_for(answer(reader), 30)
            times.append(time.perf_counter() - start)
            if status != 200:
                bad[str(status)] += 1
    except (OSError, EOFError, TimeoutError) as error:
        bad[type(error).__name__] += 1
    finally:
        writer.close()


async def quiet(port: int, until: float, *, slow: bool, closed: Counter[str]) -> None:
    """Hold a connection and send nothing, or a byte a second of a head that never ends."""
    kind = "slow" if slow else "quiet"
    try:
        reader, writer = await asyncio.open_connection(HOST, port)
    except OSError:
        closed["refused"] += 1
        return
    sent = b"GET /api/overview HTTP/1.1\r\nx: "
    while time.monotonic() < until:
        writer.write(sent if slow else b"")
        sent = b"y"
        try:
            await asyncio.wait_for(reader.read(1), 1)
        except TimeoutError:
            continue
        except OSError:
            pass
        closed[kind] += 1
        break
    writer.close()


async def press(
    port: int, seconds: float, *, n_asking: int, n_quiet: int = 0, n_slow: int = 0, seed: int = 0
) -> dict[str, Any]:
    """Let clients of three kinds loose and give what came of it."""
    until, times, bad, closed = time.monotonic() + seconds, [], Counter[str](), Counter[str]()
    silent = [quiet(port, until, slow=False, closed=closed) for _ in range(n_quiet)]
    silent += [quiet(port, until, slow=True, closed=closed) for _ in range(n_slow)]
    holding = [asyncio.create_task(each) for each in silent]
    await asyncio.sleep(min(1.0, seconds / 4) if holding else 0)  # they are there first
    asking = [
        ask(port, until, random.Random(f"{seed} {number}"), times, bad)
        for number in range(n_asking)
    ]
    await asyncio.gather(*asking)
    await asyncio.gather(*holding)
    ordered = sorted(times)
    return {
        "seconds": seconds, "connections": n_asking, "quiet": n_quiet, "slow": n_slow,
        "answers": len(times), "errors": dict(bad), "closed by the server": dict(closed),
        "median ms": round(1000 * ordered[len(ordered) // 2], 1),
        "95th percentile ms": round(1000 * ordered[int(len(ordered) * 0.95)], 1),
        "longest ms": round(1000 * ordered[-1], 1),
    }  # fmt: skip

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from topicvec.engine import (
    Engine,
    LocalEngine,
    advance,
    fold,
    interrupts_held,
    local,
    one_blas_thread,
    resolve_engine,
)
from topicvec.errors import DataError, EngineError


def square(x):
    return x * x


def die(_):
    os._exit(1)


def soon(condition):
    """Wait for what threads that run on behind a map will do in a moment."""
    give_up = time.monotonic() + 30
    while not condition() and time.monotonic() < give_up:
        time.sleep(0.01)
    return condition()


INTERRUPTED = """
import gc, os, signal, subprocess, sys, time
from contextlib import nullcontext
from topicvec.engine import LocalEngine, interrupts_held, local

KILLER = '''
import os, random, sys, time
rng, parent = random.Random(0), os.getppid()
for _ in sys.stdin.buffer:  # from another process, which does not take the interpreter's lock
    end = time.perf_counter() + rng.random() * 1e-3
    while time.perf_counter() < end:
        pass
    os.kill(parent, 2)
'''
held = sys.argv[1] == "held"
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.default_int_handler)
command = [sys.executable, "-c", KILLER]
killer = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
engine = LocalEngine(2)
for _ in range(1_500):
    try:
        with interrupts_held() if held else nullcontext():
            if held:  # the first is held, the second breaks off
                signal.raise_signal(signal.SIGINT)
            os.write(killer.stdin.fileno(), b"\\n")
            while True:
                list(engine.map(abs, range(6)))
    except KeyboardInterrupt:
        pass
    assert list(engine.map(abs, range(6))) == list(range(6))
    for number in (signal.SIGINT, signal.SIGTERM):
        assert signal.getsignal(number) is signal.default_int_handler
gc.collect()
give_up = time.monotonic() + 30
while local._inside and time.monotonic() < give_up:  # a piece may run on for a moment
    time.sleep(0.01)
assert not local._inside
killer.stdin.close()
killer.wait()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("how", ["plain", "held"])
def test_interrupts_at_any_moment_leave_workers_blas_and_handlers_as_they_were(how):
    command = [sys.executable, "-X", "faulthandler", "-c", INTERRUPTED, how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_handlers_come_back_leaves_none_behind(monkeypatch, number):
    real, left = signal.signal, [True]

    def interrupted(which, handler):
        old = real(which, handler)
        if handler is signal.default_int_handler and left:
            left.pop()
            signal.raise_signal(number)
        return old

    before = {each: real(each, signal.default_int_handler) for each in (2, 15)}
    try:
        monkeypatch.setattr(local.signal, "signal", interrupted)
        heard = False
        try:
            with interrupts_held() as held:
                pass
        except KeyboardInterrupt:
            heard = True
        assert heard or held
        assert not left
        assert {signal.getsignal(each) for each in before} == {signal.default_int_handler}
    finally:
        for each, handler in before.items():
            real(each, handler)


def test_a_piece_that_goes_on_behind_its_map_keeps_blas_at_one_thread():
    begun, end = threading.Event(), threading.Event()

    def piece(number):
        if number:
            begun.set()
            end.wait()

    def leave():
        next(LocalEngine(2).map(piece, [0, 1]))
        begun.wait()

    before = blas_threads()
    leave()
    gc.collect()
    assert blas_threads() == {1}
    end.set()
    assert soon(lambda: not local._inside)
    with one_blas_thread():
        assert blas_threads() == {1}
    assert blas_threads() == before


def test_an_error_of_a_piece_keeps_nothing_alive():
    class Kept:
        pass

    def fail(kept):
        raise ValueError(repr(kept))

    gc.disable()
    try:
        items = [Kept(), Kept()]
        there = [weakref.ref(item) for item in items]
        with pytest.raises(ValueError, match="Kept") as caught:
            list(LocalEngine(2).map(fail, items))
        del items, caught
        assert soon(lambda: not any(ref() for ref in there))
    finally:
        gc.enable()


def test_a_map_after_the_end_of_the_threads_runs_where_it_is():
    pool = local._Threads(2)
    pool._end()
    assert pool.submit(abs, -1).result() == 1
    with pytest.raises(TypeError):
        pool.submit(abs, "x").result()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
@pytest.mark.filterwarnings("ignore:.*fork")
def test_a_process_that_is_forked_while_others_hold_blas_does_not_hold_it():
    before, inside, end = blas_threads(), threading.Event(), threading.Event()

    def hold():
        with one_blas_thread(), local._lock:
            inside.set()
            end.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    inside.wait()
    child = os.fork()
    if not child:
        signal.alarm(20)
        good = blas_threads() == before and list(LocalEngine(2).map(abs, [-1, 2])) == [1, 2]
        os._exit(0 if good else 1)
    end.set()
    holder.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_garbage_that_is_collected_while_blas_is_held_ends_a_map_that_nobody_finished(
    monkeypatch,
):
    class Library:
        def set_num_threads(self, _):
            gc.collect()

        def get_num_threads(self):
            gc.collect()
            return 2

    def leave():  # in a circle, as what a traceback holds
        begun = LocalEngine(2).map(square, range(20))
        next(begun)
        circle = [begun]
        circle.append(circle)

    monkeypatch.setattr(local, "_libraries", lambda _: (Library(),))
    gc.disable()
    try:
        for _ in range(3):
            with one_blas_thread():
                leave()
                list(LocalEngine(2).map(square, range(5)))
            leave()
            gc.collect()
        assert soon(lambda: not local._inside)
    finally:
        gc.enable()


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
@pytest.mark.parametrize("kind", ["thread", "process"])
def test_results_come_in_the_order_of_the_items(n_jobs, kind):
    assert list(LocalEngine(n_jobs, kind=kind).map(square, range(20))) == [x * x for x in range(20)]


def test_a_slow_first_item_still_comes_first():
    def wait(seconds):
        time.sleep(seconds)
        return seconds

    assert list(LocalEngine(4).map(wait, [0.05, 0.0, 0.0])) == [0.05, 0.0, 0.0]


def test_a_long_stream_is_not_read_ahead_of_the_workers():
    taken = []

    def items():
        for i in range(1000):
            taken.append(i)
            yield i

    results = LocalEngine(2).map(square, items())
    next(results)
    assert len(taken) < 10
    results.close()


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_an_error_in_a_worker_reaches_the_caller(n_jobs):
    with pytest.raises(ZeroDivisionError):
        list(LocalEngine(n_jobs).map(lambda x: 1 // x, [1, 0, 1]))


def test_a_dead_worker_process_is_an_engine_error_that_says_what_to_do():
    with pytest.raises(EngineError, match="n_jobs"):
        list(LocalEngine(2, kind="process").map(die, [1, 2]))


def test_matrix_products_have_the_same_bits_for_any_number_of_workers():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(700, 300)).astype(np.float32)
    b = rng.normal(size=(300, 90)).astype(np.float32)
    blocks = [slice(i, i + 128) for i in range(0, 700, 128)]
    products = [
        np.vstack(list(LocalEngine(n).map(lambda rows: a[rows] @ b, blocks))) for n in (1, 2, 4)
    ]
    assert products[0].tobytes() == products[1].tobytes() == products[2].tobytes()


def test_processes_take_a_lambda_and_need_no_guard_in_a_script(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from topicvec.engine import LocalEngine\n"
        "print(list(LocalEngine(2, kind='process').map(lambda x: x + 1, [1, 2])))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout == "[2, 3]\n"


@pytest.mark.parametrize("n_jobs", [0, -2])
def test_a_senseless_worker_count_is_refused(n_jobs):
    with pytest.raises(DataError, match="n_jobs"):
        LocalEngine(n_jobs)


def test_anything_with_a_map_is_an_engine_and_nothing_else_is():
    engine = LocalEngine(1)
    assert isinstance(engine, Engine)
    assert resolve_engine(engine) is engine
    with pytest.raises(EngineError, match="map"):
        resolve_engine("two")


def test_a_map_inside_of_a_map_does_not_wait_for_ever():
    engine = LocalEngine(2)
    inner = engine.map(lambda x: sum(engine.map(square, range(x))), [3, 4, 5, 6])
    assert list(inner) == [5, 14, 30, 55]


def blas_threads():
    found = threadpool_info()
    return {library["num_threads"] for library in found if library["user_api"] == "blas"}


def test_overlapping_maps_keep_blas_on_one_thread_until_the_last_ends():
    before = blas_threads()
    first, second = (LocalEngine(2).map(lambda _: blas_threads(), range(9)) for _ in range(2))
    assert next(first) == next(second) == {1}
    first.close()
    assert set().union(*second) == {1}
    assert blas_threads() == before


def test_blas_is_held_to_one_thread_anew_beside_a_map_that_nobody_finished():
    begun = (
        LocalEngine(1).map(lambda _: blas_threads(), range(9)),
        LocalEngine(2).map(abs, range(9)),
    )
    for each in begun:
        next(each)
    with threadpool_limits(4, "blas"):
        with one_blas_thread():
            assert blas_threads() == {1}
        assert list(LocalEngine(1).map(lambda _: blas_threads(), range(2))) == [{1}, {1}]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_workers_of_its_own():
    engine = LocalEngine(2)
    list(engine.map(square, range(4)))
    child = os.fork()
    if child == 0:
        os._exit(0 if list(engine.map(square, range(4))) == [0, 1, 4, 9] else 1)
    assert os.waitpid(child, 0)[1] == 0


class Counting:
    """Items are added to their states; what they say is their numbers, in brackets by group."""

    stays = True
    nbytes = 8

    @property
    def function(self):
        return lambda pair: (pair[0] + pair[1], str(pair[1]))

    def add(self, total, part):
        return part if total is None else f"{total} {part}"

    def close(self, total, engine):
        return f"[{total}]"

    def join(self, one, other):
        return one + other

    def light(self):
        return self


@pytest.mark.parametrize("engine", [LocalEngine(1), LocalEngine(3)])
def test_a_round_changes_states_and_adds_up_group_by_group(engine):
    groups = [slice(0, 2), slice(2, 3), slice(3, 5)]
    states, total = advance(engine, Counting(), [1, 2, 3, 4, 5], [0, 0, 0, 0, 0], groups)
    assert (states, total) == ([1, 2, 3, 4, 5], "[0 0][0][0 0]")
    states, total = advance(engine, Counting(), [1, 2, 3, 4, 5], states, groups)
    assert (states, total) == ([2, 4, 6, 8, 10], "[1 2][3][4 5]")


@pytest.mark.parametrize("number", [1, 2, 16, 17, 256, 300])
def test_parts_are_added_in_their_order_at_most_sixteen_in_a_row(number):
    depths = []

    def join(one, other):
        depth = 1 + max(one[1], other[1])
        depths.append(depth)
        return one[0] + other[0], depth

    assert fold((([i], 0) for i in range(number)), join)[0] == list(range(number))
    assert max(depths, default=0) <= 15 * 3 + 3

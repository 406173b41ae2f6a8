# SPDX-License-Identifier: BSD-3-Clause
"""Executions in the background: futures, asyncio, cancellation, timeouts, the end of the interpreter."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, as_completed, wait

import numpy as np
import pytest

import rushlight
from rushlight.errors import DeadlineExceeded, InvalidArgument, OutOfMemory
from rushlight.runtime import Execution, Method, Runtime
from support.programs import Plan, jump_false, program, scalar, tensor

pytestmark = pytest.mark.skipif(
    "aten::add.out" not in Runtime.get().operator_registry.operator_names,
    reason="this build does not have aten::add.out",
)
SIZE = 1 << 10


def doubling(*, planned: bool = True, endless: bool = False) -> bytes:
    """A program that adds its input to itself, once or again and again."""
    first, second = ({"offset": 0}, {"offset": 4 * SIZE}) if planned else ({}, {})
    plan = Plan(
        values=[
            tensor("float32", (SIZE,), **first),
            scalar(1),
            tensor("float32", (SIZE,), **second),
            scalar(False),
        ],
        operators=[("aten::add", "out")],
        calls=[(0, [0, 0, 1, 2]), *([jump_false(3, 0)] if endless else [])],
        inputs=[0],
        outputs=[2],
    )
    return program(plan)


def method(*, threads: int | None = None, max_instructions: int | None = None, **kind: bool) -> Method:
    return rushlight.load(doubling(**kind), threads=threads, max_instructions=max_instructions).method(
        "forward"
    )


def full(value: float) -> np.ndarray:
    return np.full(SIZE, value, np.float32)


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.0005)


# ---- Results ----


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("planned", [False, True])
def test_a_future_has_the_outputs(threads: int, planned: bool) -> None:
    forward = method(threads=threads, planned=planned)
    futures = [forward.execute_async([full(value)]) for value in range(20)]
    assert all(isinstance(future, Execution) for future in futures)
    for value, future in enumerate(futures):
        np.testing.assert_array_equal(future.result(30)[0], full(2 * value))
        assert future.done() and not future.running() and not future.cancel()


def test_programs_begin_methods_by_name() -> None:
    loaded = rushlight.load(doubling())
    np.testing.assert_array_equal(loaded.run_async("forward", [full(3)]).result(30)[0], full(6))


@pytest.mark.parametrize("planned", [False, True])
def test_inputs_may_change_at_once(planned: bool) -> None:
    forward, given = method(planned=planned), full(0)
    futures = []
    for value in range(20):
        given[:] = value
        futures.append(forward.execute_async([given]))
    given[:] = -1
    for value, future in enumerate(futures):
        np.testing.assert_array_equal(future.result(30)[0], full(2 * value))


def test_none_reuses_inputs_and_views_follow_the_method() -> None:
    forward = method()
    forward.set_inputs([full(4)])
    view = forward.execute_async(None, outputs="view").result(30)[0]
    np.testing.assert_array_equal(view, full(8))
    assert not view.flags.writeable
    forward.execute_async([full(5)]).result(30)
    np.testing.assert_array_equal(view, full(10))


def test_calls_and_executions_of_one_method_do_not_mix() -> None:
    forward = method()
    for value in range(100):
        future = forward.execute_async([full(value)])
        np.testing.assert_array_equal(forward([full(-value)][0])[0], full(-2 * value))
        np.testing.assert_array_equal(future.result(30)[0], full(2 * value))


def test_methods_run_at_once() -> None:
    loops = [method(endless=True, threads=2) for _ in range(2)]
    futures = [loop.execute_async([full(1)]) for loop in loops]
    until(lambda: all(future.running() for future in futures))
    assert [future.cancel() for future in futures] == [True, True]


# ---- asyncio ----


def test_asyncio_awaits_executions() -> None:
    methods = [method(threads=2) for _ in range(3)]

    async def main() -> list[list[np.ndarray]]:
        return await asyncio.gather(*[methods[i % 3].execute_async([full(i)]) for i in range(12)])

    for value, outputs in enumerate(asyncio.run(main())):
        np.testing.assert_array_equal(outputs[0], full(2 * value))


def test_asyncio_cancels_executions() -> None:
    forward = method(endless=True)

    async def main() -> Execution:
        execution = forward.execute_async([full(1)])
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(execution, 0.02)
        return execution

    execution = asyncio.run(main())
    assert execution.cancelled()
    wait([execution], 30)


# ---- Failures ----


def test_failures_are_those_of_a_call() -> None:
    forward = method(endless=True, max_instructions=1000)
    for wrong in ([full(1), full(2)], [np.ones(3, np.float32)], [np.ones(SIZE)], [full(1)]):
        with pytest.raises((InvalidArgument, OutOfMemory)) as call:
            forward.execute(wrong)
        with pytest.raises(type(call.value)) as future:
            forward.execute_async(wrong).result(30)
        assert str(future.value) == str(call.value)


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_a_timeout_that_is_none_is_refused(timeout: float) -> None:
    with pytest.raises(InvalidArgument, match="timeout: expected more than 0 seconds"):
        method().execute_async([full(1)], timeout=timeout)


def test_a_timeout_ends_an_execution_and_those_that_wait_for_it() -> None:
    forward = method(endless=True)
    futures = [forward.execute_async([full(1)], timeout=0.02) for _ in range(2)]
    for future in futures:
        with pytest.raises(
            DeadlineExceeded, match=r"method 'forward': expected a result within 0\.02 s"
        ) as late:
            future.result(30)
        assert late.value.exit_code == 38 and late.value.next_step
    assert method().execute_async([full(1)], timeout=1e300).result(30)


def test_a_cancelled_execution_ends_and_its_method_stays_usable() -> None:
    loaded = rushlight.load(doubling(endless=True))
    forward = loaded.method("forward")
    running, waiting = (forward.execute_async([full(1)]) for _ in range(2))
    until(running.running)
    assert not waiting.running()
    assert waiting.cancel() and running.cancel() and running.cancelled()
    done, pending = wait([running, waiting], 30)  # until they have stopped
    assert done == {running, waiting} and not pending
    for future in as_completed([running, waiting], 30):
        with pytest.raises(CancelledError):
            future.result()
    with pytest.raises(DeadlineExceeded):
        forward.execute_async([full(1)], timeout=0.01).result(30)


def test_a_failing_callback_harms_nobody() -> None:
    forward = method()
    future = forward.execute_async([full(1)])
    called = threading.Event()
    future.add_done_callback(lambda _: called.set())
    assert called.wait(30)
    assert forward.execute_async([full(2)]).result(30)


# ---- Lifetimes ----


def test_an_execution_keeps_what_it_needs() -> None:
    futures = [method(threads=threads).execute_async([full(3)]) for threads in (1, 2, 3, 4)]
    gc.collect()
    for future in futures:
        np.testing.assert_array_equal(future.result(30)[0], full(6))


def test_a_callback_may_drop_the_program() -> None:
    """The thread that runs it belongs to the program's pool, whose last owner it drops."""
    for _ in range(20):
        owner = [method(threads=7)]
        dropped = threading.Event()

        def drop(_: object, owner: list[Method] = owner, dropped: threading.Event = dropped) -> None:
            owner.clear()
            dropped.set()

        owner[0].execute_async([full(1)]).add_done_callback(drop)
        assert dropped.wait(30)


SCRIPT = """
import os, sys, threading, time
import numpy as np
import rushlight
forward = rushlight.load(bytes.fromhex(sys.argv[1]), threads=2).method("forward")
begin = lambda: forward.execute_async([np.ones(int(sys.argv[2]), np.float32)])
"""


def script(text: str) -> str:
    """What a Python process prints that has an endless method and ends normally."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT + text, doubling(endless=True).hex(), str(SIZE)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_interpreter_ends_with_work_in_flight() -> None:
    text = """
futures = [begin() for _ in range(3)]
while not futures[0].running(): time.sleep(0.001)
futures[0].add_done_callback(lambda future: print(future.cancelled()))
def more():
    try:
        while begin(): time.sleep(0.001)
    except rushlight.errors.InvalidArgument as error:
        assert "shutting down" in str(error)
threading.Thread(target=more, daemon=True).start()
"""
    assert script(text) == "True\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork()")
def test_a_child_process_executes_while_its_parent_has_work_in_flight() -> None:
    text = """
other = rushlight.load(bytes.fromhex(sys.argv[1]), threads=2, max_instructions=100).method("forward")
future = begin()
while not future.running(): time.sleep(0.001)
child = os.fork()
if child == 0:
    late = other.execute_async([np.ones(int(sys.argv[2]), np.float32)])
    print(type(late.exception(10)).__name__, flush=True)
    sys.exit(0)
print(os.waitpid(child, 0)[1], future.running())
"""
    assert script(text) == "OutOfMemory\n0 True\n"

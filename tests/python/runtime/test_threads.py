# SPDX-License-Identifier: BSD-3-Clause
"""Methods run at once in several threads, and programs are loaded meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rushlight
from rushlight.errors import OperatorNotFound, RushlightError
from rushlight.runtime import Method, Runtime
from support import thread_load
from support.programs import Plan, program, scalar, tensor

INTEROP = Path(__file__).parents[2] / "interop"
CALLS = 200


def needs(*operators: str) -> pytest.MarkDecorator:
    missing = sorted(set(operators) - Runtime.get().operator_registry.operator_names)
    return pytest.mark.skipif(bool(missing), reason=f"this build does not have {', '.join(missing)}")


def run_all(*work: Callable[[], None]) -> None:
    """Runs each function in a separate thread, started together; raises the first exception."""
    failures: list[BaseException] = []
    barrier = threading.Barrier(len(work))

    def guarded(function: Callable[[], None]) -> None:
        barrier.wait()
        try:
            function()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(function,)) for function in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def long_addition(count: int) -> Method:
    """A method that adds its input to itself `count` times."""
    plan = Plan(
        values=[tensor("float32", (1 << 16,)), scalar(1), tensor("float32", (1 << 16,), offset=1 << 18)],
        operators=[("aten::add", "out")],
        calls=[(0, [0, 0, 1, 2])] * count,
        inputs=[0],
        outputs=[2],
    )
    return rushlight.load(program(plan)).method("forward")


@needs("aten::add.out")
def test_python_runs_while_a_method_executes() -> None:
    """While one call computes, another thread takes more turns than the ends of a call allow.

    A busy machine may not run the other thread during one call, so calls are made until one shows it.
    """
    method, given = long_addition(2000), np.ones(1 << 16, np.float32)
    loops, most, done = 0, 0, threading.Event()

    def execute() -> None:
        nonlocal most
        for _ in range(CALLS):
            before = loops
            method(given)
            most = max(most, loops - before)
            if most > 10:
                break
        done.set()

    thread = threading.Thread(target=execute)
    thread.start()
    while not done.is_set():
        time.sleep(0)
        loops += 1
    thread.join()
    assert most > 10


@needs("aten::add.out", "aten::mul.out", "aten::copy_")
def test_instances_of_one_method_run_at_once_with_state_of_their_own() -> None:
    loaded = rushlight.load(INTEROP / "mutable_counter" / "model.pte")
    one = loaded.load_method("forward")
    given = np.ones(3, np.float32)
    expected = [one(given)[0].copy() for _ in range(CALLS)]

    def work() -> None:
        method = loaded.load_method("forward")
        for number in range(CALLS):
            np.testing.assert_array_equal(method(given)[0], expected[number])

    run_all(*[work] * 4)


@needs("aten::add.out")
def test_different_methods_of_one_program_run_at_once() -> None:
    loaded = rushlight.load(INTEROP / "multi_method" / "model.pte")
    try:
        names = [name for name in loaded.method_names if loaded.metadata(name).num_inputs() > 0]
        methods = {name: loaded.load_method(name) for name in names}
    except OperatorNotFound as error:
        pytest.skip(f"this build does not have {', '.join(error.operators)}")
    given = {
        name: [np.full(info.shape, 0.5, info.dtype) for info in method.inputs]
        for name, method in methods.items()
    }
    expected = {name: method.execute(given[name])[0] for name, method in methods.items()}

    def work(name: str) -> Callable[[], None]:
        def call() -> None:
            for _ in range(CALLS):
                np.testing.assert_array_equal(methods[name].execute(given[name])[0], expected[name])

        return call

    run_all(*[work(name) for name in names] * 2)


def test_calls_of_one_instance_go_one_after_another() -> None:
    plan = Plan(values=[tensor("float32", (64,))], inputs=[0], outputs=[0])
    method = rushlight.load(program(plan)).method("forward")

    def work(value: float) -> Callable[[], None]:
        def call() -> None:
            given = np.full(64, value, np.float32)
            for _ in range(10 * CALLS):
                assert (method(given)[0] == value).all()

        return call

    run_all(*[work(float(value)) for value in range(4)])


def test_programs_are_loaded_and_refused_at_once() -> None:
    good = program(Plan(values=[scalar(7)], outputs=[0]))
    missing = [program(Plan(operators=[(f"acme::op{i}", "")], calls=[(0, [])])) for i in range(2)]

    def load() -> None:
        for _ in range(CALLS):
            assert rushlight.load(good).forward() == [7]

    def refuse(number: int) -> Callable[[], None]:
        def call() -> None:
            loaded = rushlight.load(missing[number])
            for _ in range(CALLS):
                try:
                    loaded.load_method("forward")
                except RushlightError as error:
                    assert str(error).count("acme::") == 1
                    assert f"acme::op{number}" in str(error)

        return call

    run_all(load, load, refuse(0), refuse(1))


def test_threads_get_the_numbers_of_one_thread() -> None:
    """`python tests/support/thread_load.py 180` does the same for three minutes."""
    try:
        counts = thread_load.run(2)
    except OperatorNotFound as error:
        pytest.skip(f"this build does not have {', '.join(error.operators)}")
    assert {"call", "future", "cancel (stopped)", "timeout (stopped)"} <= set(counts)

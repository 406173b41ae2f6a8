# SPDX-License-Identifier: BSD-3-Clause
"""Threads and prepared weights change how long a program takes, and nothing else."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest

import rushlight
from rushlight.errors import InvalidArgument
from rushlight.trace.profile import profile, read_events

INTEROP = Path(__file__).parents[2] / "interop"
MODELS = ["model_dscnn", "model_resnet8", "model_mlp"]


def inputs(program: rushlight.Program) -> list[np.ndarray]:
    generator = np.random.default_rng(0)
    meta = program.metadata("forward")
    shapes = [meta.input_tensor_meta(index).sizes() for index in range(meta.num_inputs())]
    return [generator.standard_normal(shape).astype(np.float32) for shape in shapes]


@pytest.mark.parametrize("model", MODELS)
def test_results_do_not_depend_on_threads(model: str) -> None:
    path = INTEROP / model / "model.pte"
    one, three = rushlight.load(path, threads=1), rushlight.load(path, threads=3)
    given = inputs(one)
    (expected,), (got,) = one.forward(*given), three.forward(*given)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("model", MODELS)
def test_weights_need_not_be_prepared(model: str) -> None:
    path = INTEROP / model / "model.pte"
    prepared, plain = rushlight.load(path, threads=1), rushlight.load(path, threads=1, prepare=False)
    given = inputs(plain)
    (expected,), (got,) = plain.forward(*given), prepared.forward(*given)
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


def test_a_program_tells_what_it_prepared() -> None:
    path = INTEROP / "model_resnet8" / "model.pte"
    weights = 4 * 60_000
    program = rushlight.load(path, threads=1)
    first, second = program.load_method("forward"), program.load_method("forward")
    assert first.memory()["prepared"] > weights
    assert second.memory()["prepared"] == 0  # it found what the first one had made


@pytest.mark.parametrize(
    ("model", "folded"),
    [("model_mlp", 2), ("dynamic_mlp", 2), ("gru", 6), ("model_resnet8_int8", 11), ("cond_sum", 1)],
)
def test_copies_of_constants_are_made_once(model: str, folded: int, tmp_path: Path) -> None:
    path = INTEROP / model / "model.pte"
    program = rushlight.load(path, threads=1, enable_etdump=True, optimize=False)
    plain = rushlight.load(path, threads=1, prepare=False, integers=False)
    given = inputs(plain)
    first, second = program.load_method("forward"), program.load_method("forward")
    for method in (first, second):
        np.testing.assert_allclose(method.execute(given)[0], plain.forward(*given)[0], rtol=1e-4, atol=1e-5)
    assert first.memory()["prepared"] > 0 and second.memory()["prepared"] == 0
    program.write_etdump_result_to_file(tmp_path / "trace.etdp")
    operators = profile(read_events(tmp_path / "trace.etdp")).operators
    assert sum(each.name.endswith("(folded)") for each in operators) == folded
    assert all(each.calls == 2 for each in operators)


def test_programs_run_at_once_on_the_same_threads() -> None:
    program = rushlight.load(INTEROP / "model_resnet8" / "model.pte", threads=2)
    methods = [program.load_method("forward") for _ in range(3)]
    given = inputs(program)
    (expected,) = program.forward(*given)
    wrong: list[float] = []

    def run(method: rushlight.Method) -> None:
        for _ in range(20):
            (got,) = method.execute(given)
            if not np.array_equal(got, expected):
                wrong.append(float(np.abs(got - expected).max()))

    threads = [threading.Thread(target=run, args=(method,)) for method in methods]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_child_process_runs_without_the_threads() -> None:
    program = rushlight.load(INTEROP / "model_resnet8" / "model.pte", threads=2)
    given = inputs(program)
    (expected,) = program.forward(*given)
    child = os.fork()
    if child == 0:
        (got,) = program.forward(*given)
        os._exit(0 if np.array_equal(got, expected) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_there_is_one_thread_at_least() -> None:
    with pytest.raises(InvalidArgument, match="threads: expected at least 1, got 0"):
        rushlight.load(INTEROP / "model_mlp" / "model.pte", threads=0)

# SPDX-License-Identifier: BSD-3-Clause
"""Delegates that were lowered to XNNPACK: the memory that they take beside the method's own is told and
limited, and what several share is packed once."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import rushlight
from rushlight.cli.main import rushlight as command
from rushlight.errors import OutOfMemory
from rushlight.run.cases import load_case

INTEROP = Path(__file__).parents[2] / "interop"
CNN = INTEROP / "model_resnet8" / "model_xnnpack.pte"


def outputs(program: rushlight.runtime.Program) -> list[np.ndarray]:
    (call, *_) = load_case(CNN.parent / "case.json").calls
    return [np.asarray(each).copy() for each in program.load_method(call.method).execute(call.inputs)]


def test_a_method_tells_what_its_delegates_take() -> None:
    program = rushlight.load(CNN, threads=1)
    memory = program.load_method("forward").memory()
    plain = rushlight.load(INTEROP / "model_resnet8" / "model.pte", threads=1).load_method("forward").memory()
    assert memory["delegates"]["prepared"] > 4 * 60_000 > memory["prepared"]
    # The tensors between its nodes, and the calls as a separate program.
    assert memory["delegates"]["working"] > sum(plain["planned"]) / 2
    assert plain["delegates"] == {"working": 0, "scratch": 0, "prepared": 0}


@pytest.mark.parametrize("load_mode", ["mmap", "file"])
def test_a_second_instance_finds_what_the_first_one_packed(load_mode: rushlight.runtime.LoadMode) -> None:
    program = rushlight.load(CNN, threads=1, load_mode=load_mode)
    first, second = program.load_method("forward"), program.load_method("forward")
    assert first.memory()["delegates"]["prepared"] > 4 * 60_000
    assert second.memory()["delegates"]["prepared"] == 0
    del first
    third = program.load_method("forward")
    assert third.memory()["delegates"]["prepared"] == 0
    (call, *_) = load_case(CNN.parent / "case.json").calls
    expected = outputs(rushlight.load(CNN, threads=1))
    for method in (second, third):
        np.testing.assert_array_equal(method.execute(call.inputs)[0], expected[0])


def test_a_delegates_memory_counts_towards_the_limit() -> None:
    memory = rushlight.load(CNN, threads=1).load_method("forward").memory()
    own = memory["method_arena"] + sum(memory["planned"])
    needed = memory["delegates"]["working"]
    with pytest.raises(OutOfMemory, match="memory: expected at most"):
        rushlight.load(CNN, threads=1, max_memory=own + needed // 2).load_method("forward")
    tight = rushlight.load(CNN, threads=1, max_memory=own + needed + 40_000)
    assert tight.load_method("forward").memory()["delegates"]["prepared"] <= 40_000
    np.testing.assert_allclose(outputs(tight)[0], outputs(rushlight.load(CNN))[0], rtol=1e-4, atol=1e-5)


def test_a_delegate_packs_nothing_where_nothing_is_to_be_packed() -> None:
    program = rushlight.load(CNN, threads=1, prepare=False)
    # The memory that packed weights would take, as for a method's own kernels: it does not count.
    told = program.load_method("forward").memory()["delegates"]
    limit = told["working"] + told["prepared"] // 2 + 200_000
    bound = rushlight.load(CNN, threads=1, prepare=False, max_memory=limit)
    np.testing.assert_allclose(outputs(bound)[0], outputs(rushlight.load(CNN))[0], rtol=1e-4, atol=1e-5)


@pytest.mark.heavy
def test_inspect_shows_what_delegates_take() -> None:
    told = rushlight.load(CNN, threads=1).load_method("forward").memory()["delegates"]
    listed = CliRunner().invoke(command, ["inspect", str(CNN), "--json"])
    assert json.loads(listed.output)["methods"][0]["memory"]["kernels"]["delegates"] == told
    shown = CliRunner().invoke(command, ["inspect", str(CNN)])
    assert "delegates on this machine: working memory" in shown.output

# SPDX-License-Identifier: BSD-3-Clause
"""Programs exported by the official package run here and give PyTorch's results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight
from rushlight.codegen.table import load_table
from rushlight.program import operator_uses, read_program
from rushlight.run.cases import load_case
from rushlight.runtime import Runtime
from rushlight.sources import source_root

INTEROP = Path(__file__).parents[1] / "interop"

PROGRAMS = sorted(
    f"{path.parent.name}/{path.name}"
    for path in INTEROP.glob("*/*.pte")
    if (path.parent / "case.json").is_file()
)

pytestmark = pytest.mark.conformance


def differences(got: list[Any], expected: list[Any], tolerance: float) -> list[str]:
    """The violations of the rule of tests/interop/README.md; empty when the outputs pass."""
    if len(got) != len(expected):
        return [f"{len(expected)} outputs expected, got {len(got)}"]
    found = []
    for index, (g, e) in enumerate(zip(got, expected, strict=True)):
        if isinstance(e, np.ndarray):
            if g.shape != e.shape or g.dtype != e.dtype:
                found.append(f"output {index}: {e.dtype}{e.shape} expected, got {g.dtype}{g.shape}")
                continue
        elif g != e:
            found.append(f"output {index}: {e} expected, got {g}")
        g, e = np.asarray(g), np.asarray(e)
        if e.dtype.kind in "biu":
            passes = bool(np.array_equal(g, e))
        else:
            g, e = g.astype(np.float64), e.astype(np.float64)
            finite = np.where(np.isfinite(e), np.abs(e), 0)
            largest = max(1.0, float(finite.max(initial=0)))
            with np.errstate(invalid="ignore"):
                close = np.abs(g - e) <= tolerance * largest + tolerance * finite
            passes = bool(np.all(close | (g == e) | (np.isnan(g) & np.isnan(e))))
        if not passes:
            found.append(f"output {index}: expected\n{e}\ngot\n{g}")
    return found


def run_case(name: str, optimize: bool = True) -> list[str]:
    """Executes the calls of a case on one instance of each method; returns the errors."""
    path = INTEROP / name
    case = load_case(path.parent / "case.json")
    program = rushlight.load(path, data_files=case.data_files, optimize=optimize)
    found = []
    for number, call in enumerate(case.calls):
        outputs = program.run(call.method, call.inputs)
        assert call.expected is not None
        found += [f"call {number}: {text}" for text in differences(outputs, call.expected, case.tolerance)]
    return found


@pytest.mark.parametrize("optimize", [True, False], ids=["rewritten", "as stated"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_gives_what_pytorch_gives(name: str, optimize: bool) -> None:
    needed = set(operator_uses(read_program(INTEROP / name)))
    known = set(load_table(source_root() / "kernels" / "ops.yaml").operators)
    linked = Runtime.get().operator_registry.operator_names
    if unselected := sorted(needed & known - linked):
        pytest.skip(f"this build does not have {', '.join(unselected)}")
    assert run_case(name, optimize) == []


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 40


@pytest.mark.parametrize(
    ("got", "expected", "tolerance", "passes"),
    [
        ([np.float32([1, 2])], [np.float32([1, 2.0001])], 1e-3, True),
        ([np.float32([1, 2])], [np.float32([1, 2.01])], 1e-3, False),
        ([np.float32([1000])], [np.float32([1001])], 1e-3, True),
        ([np.float32([np.nan, np.inf])], [np.float32([np.nan, np.inf])], 1e-3, True),
        ([np.float32([np.nan])], [np.float32([1])], 1.0, False),
        ([np.float32([np.inf])], [np.float32([-np.inf])], 1.0, False),
        ([np.int32([1])], [np.int32([2])], 10.0, False),
        ([np.int32([1])], [np.int64([1])], 1.0, False),
        ([np.zeros((1, 2), np.int8)], [np.zeros(2, np.int8)], 1.0, False),
        ([3], [3], 0.0, True),
        ([3], [4], 0.0, False),
        ([], [3], 0.0, False),
    ],
)
def test_the_rule_of_comparison_can_fail(
    got: list[Any], expected: list[Any], tolerance: float, passes: bool
) -> None:
    assert (differences(got, expected, tolerance) == []) is passes

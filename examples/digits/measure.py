# SPDX-License-Identifier: BSD-3-Clause
"""Runs the digits program on one target and gathers what there is to know about it."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import rushlight
from rushlight.run.api import run
from rushlight.run.case_stream import CallResult
from rushlight.run.cases import Case, compare, load_case

HERE = Path(__file__).parent
MODEL = HERE / "digits.pte"
CASE = HERE / "case.json"


@dataclass(frozen=True)
class Measurement:
    """One target's results. Sizes in bytes: `flash` without the model, `ram` static data and arenas
    without the stack. `instructions` and `microseconds` are the median of one inference; only the one
    that says something on the target is there."""

    target: str
    passed: bool
    predictions: list[int]
    correct: int
    images: int
    max_error: float
    flash: int
    model: int
    ram: int
    instructions: int | None
    microseconds: float | None
    build_seconds: float


def labels() -> list[int]:
    """The digit on each image of the case."""
    return json.loads(CASE.read_text())["labels"]


def measure(target: str, folder: Path) -> Measurement:
    """Builds a runner with the model's operators and dtypes only, and makes all calls of the case.

    Errors: rushlight's own, MissingToolchain among them.
    """
    case = load_case(CASE)
    if target == "host":
        return _measure_here(case, folder)
    outcome = run(MODEL, case, target=target, build_folder=folder)
    assert outcome.build is not None and outcome.report is not None
    memory = outcome.report
    arenas = memory.method_arena_bytes + memory.planned_bytes + memory.temporary_peak_bytes
    return _summary(case, outcome.build, arenas, [call.result for call in outcome.calls])


def _measure_here(case: Case, folder: Path) -> Measurement:
    """In this process, on an extension module that has the model's kernels only."""
    built = rushlight.build(MODEL, target="host", dtypes="model", output=folder)
    program = rushlight.load(MODEL, module=built.module())
    results = []
    for call in case.calls:
        began = time.perf_counter_ns()
        outputs = program.forward(*call.inputs)
        results.append(CallResult(outputs, 0, time.perf_counter_ns() - began))
    memory = program.method("forward").memory()
    arenas = memory["method_arena"] + sum(memory["planned"]) + memory["temporary_peak"]
    return _summary(case, built, arenas, results)


def _summary(
    case: Case, built: rushlight.build.BuildResult, arenas: int, results: Sequence[CallResult]
) -> Measurement:
    compared = [
        compare(result.outputs, call.expected or [], case.tolerance)
        for call, result in zip(case.calls, results, strict=True)
    ]
    predictions = [int(np.argmax(result.outputs[0])) for result in results]
    instructions = round(statistics.median(result.instructions for result in results))
    on_host = built.target == "host"
    return Measurement(
        target=built.target,
        passed=all(comparison.passed for comparison in compared),
        predictions=predictions,
        correct=sum(guess == label for guess, label in zip(predictions, labels(), strict=True)),
        images=len(results),
        max_error=max(comparison.max_error for comparison in compared),
        flash=built.sizes.flash,
        model=MODEL.stat().st_size,
        ram=built.sizes.ram + arenas,
        instructions=instructions or None,
        microseconds=statistics.median(result.ns for result in results) / 1000 if on_host else None,
        build_seconds=round(built.seconds, 1),
    )

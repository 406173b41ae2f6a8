# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program that reads digits on one target, and measures its accuracy, sizes and cost."""

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


@dataclass(frozen=True)
class Measurement:
    """The results of one target. Sizes in bytes: `flash` without the model; `ram` is static data and arenas
    without the stack. The cost is the median of one inference: `instructions` where the target counts them,
    `microseconds` on the host."""

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


@dataclass(frozen=True)
class Subject:
    """A program and its case, whose `labels` are the digits on the images."""

    model: Path
    case: Case
    labels: list[int]


def subject(folder: Path) -> Subject:
    """The program of a folder with a case.json."""
    path = folder / "case.json"
    described = json.loads(path.read_text())
    return Subject(folder / described["files"][0], load_case(path), described["labels"])


def measure(of: Subject, target: str, folder: Path) -> Measurement:
    """Builds a runner with the model's operators and dtypes only, and makes all calls of the case.

    Errors: rushlight's own, MissingToolchain among them.
    """
    if target == "host":
        return _measure_here(of, folder)
    outcome = run(of.model, of.case, target=target, build_folder=folder)
    assert outcome.build is not None and outcome.report is not None
    memory = outcome.report
    arenas = memory.method_arena_bytes + memory.planned_bytes + memory.temporary_peak_bytes
    return _summary(of, outcome.build, arenas, [call.result for call in outcome.calls])


def _measure_here(of: Subject, folder: Path) -> Measurement:
    """In this process, on an extension module that has the model's kernels only."""
    case = of.case
    built = rushlight.build(of.model, target="host", dtypes="model", output=folder)
    program = rushlight.load(of.model, module=built.module())
    results = []
    for call in case.calls:
        began = time.perf_counter_ns()
        outputs = program.forward(*call.inputs)
        results.append(CallResult(outputs, 0, time.perf_counter_ns() - began))
    memory = program.method("forward").memory()
    arenas = memory["method_arena"] + sum(memory["planned"]) + memory["temporary_peak"]
    arenas += sum(memory["delegates"][part] for part in ("working", "scratch"))
    return _summary(of, built, arenas, results)


def _summary(
    of: Subject, built: rushlight.build.BuildResult, arenas: int, results: Sequence[CallResult]
) -> Measurement:
    compared = [
        compare(result.outputs, call.expected or [], of.case.tolerance)
        for call, result in zip(of.case.calls, results, strict=True)
    ]
    predictions = [int(np.argmax(result.outputs[0])) for result in results]
    instructions = round(statistics.median(result.instructions for result in results))
    on_host = built.target == "host"
    return Measurement(
        target=built.target,
        passed=all(comparison.passed for comparison in compared),
        predictions=predictions,
        correct=sum(guess == label for guess, label in zip(predictions, of.labels, strict=True)),
        images=len(results),
        max_error=max(comparison.max_error for comparison in compared),
        flash=built.sizes.flash,
        model=(built.linked_model or of.model).stat().st_size,
        ram=built.sizes.ram + arenas,
        instructions=instructions or None,
        microseconds=statistics.median(result.ns for result in results) / 1000 if on_host else None,
        build_seconds=round(built.seconds, 1),
    )

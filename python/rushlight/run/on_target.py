# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs with executables on a target: an interpreter, or a baked program.

An executable reads a request and writes a response and an outcome, all files in its working folder;
case_stream.py defines their layout.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rushlight.build import BuildResult
from rushlight.build.baked import BakedBuild
from rushlight.codegen.bake import program_name
from rushlight.errors import TargetCrashed
from rushlight.program import Method, TensorInfo
from rushlight.run.case_stream import (
    CallResult,
    Report,
    RunnerOutcome,
    decode_outcome,
    decode_response,
    encode_request,
)
from rushlight.run.prepared import PreparedCase
from rushlight.run.runner import Limits, Results
from rushlight.run.runner_error import runner_error
from rushlight.targets import Target
from rushlight.trace.request import TraceLoss, TraceRequest

Argument = tuple[str, str | Path | bytes]
"""An option with its value: a word, a file, or the content of a file."""


@dataclass(frozen=True)
class Interpreter:
    """An executor_runner, with the program linked in or passed to it. Without `prepare` kernels of hosts pack
    no constants."""

    target: Target
    built: BuildResult
    linked_in: bool
    limits: Limits
    prepare: bool = True
    trace: TraceRequest | None = None

    def run(self, prepared: PreparedCase) -> Results:
        """See Runner."""
        arguments = self._arguments(prepared)
        return _run(self.target, self.built, prepared, arguments, self.limits.seconds, self.trace)

    def _arguments(self, prepared: PreparedCase) -> list[Argument]:
        arguments: list[Argument] = []
        if not self.linked_in:
            arguments.append(("--model_path", prepared.model_file))
            arguments += [("--data_path", path) for path in prepared.data_files]
        if not self.prepare:
            arguments.append(("--prepare", "0"))
        return [*arguments, *self.limits.arguments()]


@dataclass(frozen=True)
class BakedProgram:
    """One program of a baked_runner: the one with the model file's name, or the only one."""

    target: Target
    baked: BakedBuild
    limits: Limits

    def run(self, prepared: PreparedCase) -> Results:
        """See Runner."""
        programs = self.baked.programs
        name = program_name(prepared.path) if len(programs) > 1 else programs[0].name
        arguments: list[Argument] = [("--program", name)]
        return _run(self.target, self.baked.result, prepared, arguments, self.limits.seconds)


def _run(
    target: Target,
    built: BuildResult,
    prepared: PreparedCase,
    arguments: Sequence[Argument],
    timeout: float,
    trace: TraceRequest | None = None,
) -> Results:
    """Starts the executable in a temporary folder and reads the files that it wrote."""
    with (
        tempfile.TemporaryDirectory(prefix="rushlight-") as folder,
        prepared.origins.told({call.method for call in prepared.case.calls}),
    ):
        work = Path(folder)
        (work / "request").write_bytes(_request(prepared))
        words = ["--inputs=request", "--outputs=response", "--outcome=outcome"]
        words += _words(arguments, work, copy=target.kind == "wasi")  # WASI follows no link out of its folder
        words += trace.arguments() if trace else []
        result = target.run(built.executable, words, work, timeout)
        if trace is not None:
            trace.collect(work)  # also after a failed run
        outcome = _outcome(work)
        if result.returncode != 0:
            raise runner_error(target.name, result.returncode, result.stdout + result.stderr, outcome)
        if outcome is None:
            raise _no_response(target)
        report, calls = _response(work, target, prepared)
    loss = None if trace is None else TraceLoss(outcome.lost_events, outcome.lost_values)
    return Results(calls, report, built, loss)


def _words(arguments: Sequence[Argument], work: Path, *, copy: bool) -> list[str]:
    """The command line. Files are copied or linked into `work`: a board only opens files in its working
    folder, by short names."""
    words = []
    for index, (option, value) in enumerate(arguments):
        if not isinstance(value, str):
            value = _put(value, work / f"file{index}", copy=copy)
        words.append(f"{option}={value}")
    return words


def _put(file: Path | bytes, at: Path, *, copy: bool) -> str:
    if isinstance(file, bytes):
        at.write_bytes(file)
    elif copy:
        shutil.copyfile(file, at)
    else:
        at.symlink_to(file.resolve())
    return at.name


def _request(prepared: PreparedCase) -> bytes:
    calls = []
    for call in prepared.case.calls:
        method = prepared.program.method(call.method)
        calls.append((call.method, call.inputs, _dim_orders(method, method.inputs)))
    return encode_request(calls, fresh_methods=prepared.case.fresh_methods)


def _response(work: Path, target: Target, prepared: PreparedCase) -> tuple[Report, list[CallResult]]:
    methods = [prepared.program.method(call.method) for call in prepared.case.calls]
    response = work / "response"
    if not response.is_file():
        raise _no_response(target)
    return decode_response(response.read_bytes(), [_dim_orders(method, method.outputs) for method in methods])


def _outcome(work: Path) -> RunnerOutcome | None:
    path = work / "outcome"
    return decode_outcome(path.read_bytes()) if path.is_file() else None


def _no_response(target: Target) -> TargetCrashed:
    return TargetCrashed(f"target '{target.name}': the runner ended without a response")


def _dim_orders(method: Method, values: Sequence[int]) -> list[tuple[int, ...] | None]:
    """The dim order of each tensor value; None for other values."""
    kept = [method.values[index].data for index in values]
    return [data.dim_order if isinstance(data, TensorInfo) else None for data in kept]

# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program's calls on a target and holds what comes out against what was expected."""

from __future__ import annotations

import hashlib
import math
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from rushlight import targets
from rushlight.build import BuildRequest, BuildResult, existing_libraries, refuse_delegates, run_request
from rushlight.build.baked import BakedBuild, build_baked
from rushlight.build.cmake import Progress
from rushlight.build.inputs import plain_name
from rushlight.codegen.bake import program_name
from rushlight.errors import (
    InvalidArgument,
    MethodNotFound,
    OperatorNotFound,
    OutOfMemory,
    RunTimeout,
    RushlightError,
    TargetCrashed,
)
from rushlight.program import (
    Method,
    Program,
    TensorInfo,
    is_bundled_program,
    read_bundled_program,
    read_data_file,
    read_program,
)
from rushlight.program.model import Dynamism
from rushlight.run import failures
from rushlight.run.case_stream import (
    CallResult,
    Report,
    RunnerOutcome,
    decode_outcome,
    decode_response,
    encode_request,
)
from rushlight.run.cases import Call, Case, Comparison, compare
from rushlight.run.origins import Origins
from rushlight.sources import source_root
from rushlight.status import CRASH_STATUS, UNSUPPORTED_DTYPE, Status, kind_of
from rushlight.trace.request import TraceLoss, TraceRequest

MAX_DATA_FILES = 8
"""As many a runner takes."""

DEFAULT_TIMEOUT = 300.0
"""Seconds that a run may take; an emulator that hangs is stopped then."""


@dataclass(frozen=True)
class CallOutcome:
    """One call: its result and, where the case says what to expect, the comparison."""

    method: str
    result: CallResult
    comparison: Comparison | None


@dataclass(frozen=True)
class RunOutcome:
    """A whole run. `report` is None when the program ran in this process. `seconds` is wall time without
    building. `trace_loss` is None when no trace was asked for."""

    target: str
    calls: list[CallOutcome]
    report: Report | None
    build: BuildResult | None
    seconds: float
    trace_loss: TraceLoss | None = None

    @property
    def passed(self) -> bool:
        """Whether no comparison failed."""
        return all(call.comparison is None or call.comparison.passed for call in self.calls)

    @property
    def stack_peak(self) -> int | None:
        """The most bytes of stack that were in use, from reset on; None where the target cannot tell."""
        return max((call.result.stack_bytes for call in self.calls), default=0) or None

    @property
    def max_error(self) -> float | None:
        """The largest absolute difference of all calls; None when nothing was compared."""
        errors = [call.comparison.max_error for call in self.calls if call.comparison is not None]
        return max(errors, key=lambda e: math.inf if math.isnan(e) else e) if errors else None


def run(
    model: str | os.PathLike[str],
    case: Case,
    *,
    target: str = "host",
    build_folder: Path | None = None,
    built: BuildResult | None = None,
    linked_in: bool = False,
    defines: dict[str, str] | None = None,
    timeout: float = DEFAULT_TIMEOUT,
    progress: Progress | None = None,
    trace: TraceRequest | None = None,
    baked: bool | BakedBuild = False,
    kernels: Sequence[str | os.PathLike[str]] = (),
    module: ModuleType | None = None,
    prepare: bool = True,
    max_instructions: int | None = None,
    max_memory: int | None = None,
) -> RunOutcome:
    """Runs the calls of `case`. On "host" in this process; elsewhere, for a trace, with `kernels` (libraries
    of one's own, see `rushlight.build`) and with backends (`RUSHLIGHT_BACKENDS` in `defines`), it first
    builds a runner for the model (below `build_folder`, default: a cache) and starts it there. `built` is a
    runner to be used instead, on the host too; with `linked_in` it has the model inside, otherwise it is
    given the model. With `baked` the program is baked, also on the host; a build of several baked programs
    can be given in its place. With `module`, the Python module of a host build, it runs in this process.
    Without `prepare` kernels of hosts pack no constants, as in baked programs. `max_instructions` and
    `max_memory` are rushlight.load's; boards and baked programs have no such limits.

    Errors: those of loading and building; BuildOnly; RunTimeout; TargetCrashed; what the runtime itself
    refuses.
    """
    path = Path(model)
    if not path.is_file():
        raise InvalidArgument(f"model {path}: no such file")
    data = path.read_bytes()
    bundled = is_bundled_program(data)
    if bundled:
        data = bytes(read_bundled_program(data).program)
    program = read_program(data)
    refuse_delegates(program, defines)
    _check_calls(program, case.calls)
    files = _data_files(program, case)
    chosen = targets.get(target)
    chosen.check_runs()
    limits = _Limits(max_instructions, max_memory)
    if limits.options() and (baked or chosen.kind == "bare-metal"):
        what = "a baked program" if baked else f"target {target}"
        raise InvalidArgument(f"max_instructions, max_memory: {what} has no such limits")
    if baked:
        if trace is not None:
            raise InvalidArgument("a baked program has no tracer", next_step="Trace the interpreted one.")
        if not isinstance(baked, BakedBuild):
            wanted = {"baked": "", **(defines or {})}  # a folder of its own in the cache
            libraries = existing_libraries(kernels)
            request = BuildRequest(target, (path.resolve(),), files, kernels=libraries, defines=wanted)
            baked = build_baked(
                path,
                target=target,
                output=build_folder or _cache_folder(request),
                data_files=files,
                kernels=libraries,
                defines=defines,
                progress=progress,
                minimal=False,
            )
        return _run_baked(path, program, case, chosen, baked, timeout, progress)
    wants_more = bool(kernels or (defines or {}).get("RUSHLIGHT_BACKENDS"))
    here = module is not None or (built is None and not wants_more)
    if chosen.kind == "host" and trace is None and here:
        with _within(timeout, path):
            return _run_here(data, case, files, Origins(path, program), module, prepare, limits)
    if built is None:
        linked_in = chosen.kind == "bare-metal"
        wanted = {**(trace.defines() if trace else {}), **(defines or {})}
        request = BuildRequest(
            target=target,
            models=(path.resolve(),),
            data_files=files,
            kernels=existing_libraries(kernels),
            defines=wanted,
        )
        built = run_request(request, build_folder or _cache_folder(request), progress=progress)
    if progress:
        progress(f"running on {target}", 0.0)
    start = time.monotonic()
    given: dict[str, Sequence[Path | bytes | str]] = {}
    if not linked_in:
        # A runner need not know bundled programs: it gets the program inside.
        given = {"--model_path": [data if bundled else path], "--data_path": files}
    if not prepare:
        given["--prepare"] = ["0"]
    given |= limits.options()
    with Origins(path, program).told({call.method for call in case.calls}):
        there = _run_there(chosen, given, built, program, case, timeout, trace)
    outcomes = _outcomes(case, there.results)
    return RunOutcome(target, outcomes, there.report, built, time.monotonic() - start, there.trace_loss)


def _run_baked(
    path: Path,
    program: Program,
    case: Case,
    target: targets.Target,
    baked: BakedBuild,
    timeout: float,
    progress: Progress | None,
) -> RunOutcome:
    if progress:
        progress(f"running on {target.name}", 0.0)
    start = time.monotonic()
    name = program_name(path) if len(baked.programs) > 1 else baked.programs[0].name
    with Origins(path, program).told({call.method for call in case.calls}):
        there = _run_there(target, {"--program": [name]}, baked.result, program, case, timeout, None)
    outcomes = _outcomes(case, there.results)
    return RunOutcome(target.name, outcomes, there.report, baked.result, time.monotonic() - start)


def inputs_of_ones(program: Program, method: str) -> Case:
    """One call of `method` on ones, at the upper bounds of its shapes; numbers as exported."""
    plan = _method(program, method)
    values = []
    for index in plan.inputs:
        data = plan.values[index].data
        values.append(np.ones(data.sizes, np.dtype(data.dtype)) if isinstance(data, TensorInfo) else data)
    return Case(method, 0.0, [Call(method, values, None)])


def _outcomes(case: Case, results: Sequence[CallResult]) -> list[CallOutcome]:
    return [
        CallOutcome(
            call.method,
            result,
            None if call.expected is None else compare(result.outputs, call.expected, case.tolerance),
        )
        for call, result in zip(case.calls, results, strict=True)
    ]


def _data_files(program: Program, case: Case) -> tuple[Path, ...]:
    """The case's data files. Errors: InvalidArgument for one that is not there, one too many, and for
    tensors of the program that none of them has, or that they have in another shape or dtype."""
    if len(case.data_files) > MAX_DATA_FILES:
        raise InvalidArgument(f"at most {MAX_DATA_FILES} data files expected, got {len(case.data_files)}")
    held = {entry.key: entry for path in case.data_files for entry in read_data_file(path).entries}
    used = {call.method for call in case.calls}
    for plan in program.plans:
        for tensor in plan.external_tensors() if plan.name in used else ():
            entry = held.get(tensor.name)
            if entry is None:
                raise InvalidArgument(
                    f"method '{plan.name}': tensor '{tensor.name}' is in no data file",
                    next_step="Give the .ptd file that was exported with the program: --data weights.ptd",
                )
    return tuple(path.resolve() for path in case.data_files)


@dataclass(frozen=True)
class _Limits:
    instructions: int | None
    memory: int | None

    def options(self) -> dict[str, Sequence[str]]:
        """Those that are given, as a runner takes them."""
        named = {"--max_instructions": self.instructions, "--max_memory": self.memory}
        return {name: [str(limit)] for name, limit in named.items() if limit is not None}


@contextmanager
def _within(seconds: float, model: Path) -> Iterator[None]:
    """Ends what runs in this process after `seconds`. A timer's signal reaches Python's main thread alone: on
    other threads there is no limit. Error: RunTimeout."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def end(*_: object) -> None:
        raise RunTimeout(f"model {model}", seconds)

    began = time.monotonic()
    handler = signal.signal(signal.SIGALRM, end)
    others, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if others > 0:  # the caller's own timer goes on
            signal.setitimer(signal.ITIMER_REAL, max(others - (time.monotonic() - began), 1e-3), interval)


def _run_here(
    model: bytes,
    case: Case,
    data_files: tuple[Path, ...],
    origins: Origins,
    module: ModuleType | None,
    prepare: bool,
    limits: _Limits,
) -> RunOutcome:
    from rushlight import runtime

    start = time.monotonic()
    program = runtime.load(
        model,
        module=module,
        data_files=data_files,
        prepare=prepare,
        max_instructions=limits.instructions,
        max_memory=limits.memory,
    )
    results = []
    for call in case.calls:
        method = program.load_method(call.method) if case.fresh_methods else program.method(call.method)
        began = time.perf_counter_ns()
        with origins.told({call.method}):
            outputs = method.execute(call.inputs)
        results.append(CallResult(outputs, 0, time.perf_counter_ns() - began))
    return RunOutcome("host", _outcomes(case, results), None, None, time.monotonic() - start)


@dataclass(frozen=True)
class _RunThere:
    """What a runner handed back."""

    report: Report
    results: list[CallResult]
    trace_loss: TraceLoss | None


def _run_there(
    target: targets.Target,
    files: dict[str, Sequence[Path | bytes | str]],
    built: BuildResult,
    program: Program,
    case: Case,
    timeout: float,
    trace: TraceRequest | None,
) -> _RunThere:
    with tempfile.TemporaryDirectory(prefix="rushlight-") as folder:
        work = Path(folder)
        (work / "request").write_bytes(
            encode_request(_ordered_calls(program, case.calls), fresh_methods=case.fresh_methods)
        )
        arguments = ["--inputs=request", "--outputs=response", "--outcome=outcome"]
        for option, listed in files.items():
            for file in listed:
                if isinstance(file, str):
                    arguments.append(f"{option}={file}")
                    continue
                # A board opens files of its own folder only, by short names.
                placed = work / f"file{len(arguments)}"
                if isinstance(file, bytes):
                    placed.write_bytes(file)
                elif target.kind == "wasi":
                    shutil.copyfile(file, placed)  # it follows no link out of its folder
                else:
                    placed.symlink_to(file.resolve())
                arguments.append(f"{option}={placed.name}")
        if trace is not None:
            arguments += trace.arguments()
        result = target.run(built.executable, arguments, work, timeout)
        if trace is not None:
            trace.collect(work)  # of a failed run, too
        told = work / "outcome"
        outcome = decode_outcome(told.read_bytes()) if told.is_file() else None
        if result.returncode != 0:
            raise _runner_error(target.name, result.returncode, result.stdout + result.stderr, outcome)
        response = work / "response"
        if outcome is None or not response.is_file():
            raise TargetCrashed(f"target '{target.name}': the runner ended without a response")
        orders = [
            [
                _dim_order(_method(program, call.method), index)
                for index in _method(program, call.method).outputs
            ]
            for call in case.calls
        ]
        report, results = decode_response(response.read_bytes(), orders)
        loss = None if trace is None else TraceLoss(outcome.lost_events, outcome.lost_values)
        return _RunThere(report, results, loss)


def _runner_error(target: str, status: int, output: str, outcome: RunnerOutcome | None) -> RushlightError:
    """The runtime's error where the runner says so: an emulator and a shell have exit statuses of their own.
    Otherwise it crashed."""
    failed = failures.decode(outcome.records) if outcome else []
    tail = "\n".join(output.strip().splitlines()[-12:])
    if outcome and not outcome.has_logs:
        tail += "".join(f"\n{failure}" for failure in failed)
    reason = CRASH_STATUS.get(status, f"signal {-status}" if status < 0 else f"exit status {status:#x}")
    message = f"target '{target}': {reason}\n{tail}".rstrip()
    if outcome is None or outcome.code != status:
        return TargetCrashed(message)
    error: RushlightError
    if status == Status.OperatorMissing:
        error = OperatorNotFound.from_report(message, next_step="Build the runner for this model.")
    else:
        error = (kind_of(status) or RushlightError)(message)
        refused = any(f.file == UNSUPPORTED_DTYPE and f.code == status for f in failed)
        if isinstance(error, InvalidArgument) and refused:
            error.tell_unsupported_dtype()
        if isinstance(error, OutOfMemory):
            error.short = failures.bytes_short(failed)
    error.instruction = failures.failed_instruction(failed)
    return error


def _ordered_calls(program: Program, calls: Sequence[Call]) -> list[tuple[Any, ...]]:
    listed = []
    for call in calls:
        plan = _method(program, call.method)
        listed.append((call.method, call.inputs, [_dim_order(plan, index) for index in plan.inputs]))
    return listed


def _dim_order(plan: Method, index: int) -> tuple[int, ...] | None:
    data = plan.values[index].data
    return data.dim_order if isinstance(data, TensorInfo) else None


def _method(program: Program, name: str) -> Method:
    for plan in program.plans:
        if plan.name == name:
            return plan
    raise MethodNotFound(name, [plan.name for plan in program.plans])


def _check_calls(program: Program, calls: Sequence[Call]) -> None:
    """Counts, kinds, dtypes and shapes of all inputs, before anything is built."""
    for call in calls:
        plan = _method(program, call.method)
        if len(call.inputs) != len(plan.inputs):
            raise InvalidArgument(
                f"method '{call.method}': expected {len(plan.inputs)} inputs, got {len(call.inputs)}"
            )
        for position, (value, index) in enumerate(zip(call.inputs, plan.inputs, strict=True)):
            data = plan.values[index].data
            if isinstance(data, TensorInfo):
                _check_tensor(f"method '{call.method}', input {position}", value, data)


def _check_tensor(what: str, value: Any, tensor: TensorInfo) -> None:
    if value is None:
        raise InvalidArgument(f"{what}: expected a {tensor.dtype} tensor, got None")
    array = np.asarray(value)
    if array.dtype.name != tensor.dtype:
        raise InvalidArgument(f"{what}: expected dtype {tensor.dtype}, got {array.dtype.name}")
    static = tensor.dynamism is Dynamism.STATIC
    if array.ndim != len(tensor.sizes) or (static and array.shape != tensor.sizes):
        bound = "" if static else "at most "
        raise InvalidArgument(f"{what}: expected shape {bound}{list(tensor.sizes)}, got {list(array.shape)}")


def _cache_folder(request: BuildRequest) -> Path:
    """One folder a model, target and options, so that a second run finds the first one's build."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rushlight" / "builds"
    ordered = replace(request, defines=dict(sorted(request.defines.items())))
    decides = repr((source_root(), sys.executable, ordered))
    key = hashlib.sha256(decides.encode()).hexdigest()[:12]
    model = request.models[0]
    return base / plain_name(f"{model.parent.name}-{model.stem}-{request.target}-{key}")

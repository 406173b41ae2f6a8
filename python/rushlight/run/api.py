# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program's calls on a target and compares the outputs with the expected ones."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

from rushlight import targets
from rushlight.build import BuildResult
from rushlight.build.baked import BakedBuild
from rushlight.build.cmake import Progress
from rushlight.convert.delegates import has_delegates
from rushlight.errors import InvalidArgument
from rushlight.run.builds import RunnerBuild, converted_case
from rushlight.run.cases import Case
from rushlight.run.in_process import InProcess
from rushlight.run.on_target import BakedProgram, Interpreter
from rushlight.run.outcome import RunOutcome, compared
from rushlight.run.prepared import PreparedCase, prepare_case
from rushlight.run.runner import DEFAULT_TIMEOUT, Limits, Runner
from rushlight.runtime.fallback import Fallback
from rushlight.trace.request import TraceRequest


def run(
    model: str | os.PathLike[str],
    case: Case,
    *,
    target: str = "host",
    build_folder: Path | None = None,
    built: BuildResult | None = None,
    linked_in: bool = False,
    defines: Mapping[str, str] | None = None,
    timeout: float = DEFAULT_TIMEOUT,
    progress: Progress | None = None,
    trace: TraceRequest | None = None,
    baked: bool | BakedBuild = False,
    kernels: Sequence[str | os.PathLike[str]] = (),
    module: ModuleType | None = None,
    prepare: bool = True,
    max_instructions: int | None = None,
    max_memory: int | None = None,
    fallback: Fallback | None = None,
    integers: bool = True,
) -> RunOutcome:
    """Runs the calls of `case`: on the host in this process, on other targets by an executable built
    for the model first.

    Args:
        model: a program (.pte) or a bundled program (.bpte).
        case: the calls and their expected outputs.
        target: a target's name. "host" also uses an executable for a trace, for `kernels`, for backends or
            PyTorch's kernels (`RUSHLIGHT_BACKENDS`, `RUSHLIGHT_BUILD=aten` in `defines`), for `built` and for
            `baked`.
        build_folder: where to build (default: a cache).
        built: a runner to use instead of building one.
        linked_in: the runner `built` contains the model; otherwise the model is passed to it.
        defines: CMake definitions for the build.
        timeout: seconds for the run, without building.
        progress: called with a description of the current step and the share done.
        trace: where to write a trace of the execution.
        baked: bake the program instead of interpreting it; or an existing build of baked programs to run.
        kernels: additional kernel libraries, as for `rushlight.build`.
        module: the Python module of a host build, in which the program then runs in this process.
        prepare: kernels of hosts pack constants when a program is loaded; baked programs never do.
        max_instructions: maximum instructions per call. Boards and baked programs have no such limit.
        max_memory: maximum bytes of memory per method. Boards and baked programs have no such limit.
        fallback: "aten" lets PyTorch compute operators without a kernel, "aten-first" all that it has; for
            programs that run in this process.
        integers: convert the program first, so that its quantized parts compute in integers; not for traces,
            which refer to the file's own instructions, for fallback="aten-first", and for given builds.

    Errors: the errors of loading and building; BuildOnly; RunTimeout; TargetCrashed; the errors of the
    runtime.
    """
    build = RunnerBuild(target, build_folder, kernels, defines or {}, progress)
    prepared = prepare_case(Path(model), case, build.defines)
    chosen = targets.get(target)
    chosen.check_runs()
    is_given = built is not None or module is not None or isinstance(baked, BakedBuild)
    # Calls that replace a delegate would be traced as separate events.
    if not is_given and (trace is None or has_delegates(prepared.program)):
        prepared = converted_case(
            prepared, build.defines, integers=integers and trace is None and fallback != "aten-first"
        )
    limits = Limits(timeout, max_instructions, max_memory)
    uses_process = module is not None or (built is None and not build.changes_the_runtime)
    in_process = chosen.kind == "host" and trace is None and uses_process and not baked
    if fallback is not None and not in_process:
        raise InvalidArgument(
            "fallback: expected a run in this process, got a target or an option that builds a runner",
            next_step="Run it on the host, without a trace, baking and definitions.",
        )
    runner: Runner
    if baked:
        runner = _baked(chosen, baked, build, prepared, limits, trace)
    elif in_process:
        runner = InProcess(limits, module, prepare, fallback)
    else:
        inside = linked_in if built else chosen.kind == "bare-metal"
        if chosen.kind == "bare-metal":
            limits.check_only_time(f"target {target}")
        built = built or build.interpreter(prepared, trace)
        runner = Interpreter(chosen, built, inside, limits, prepare, trace)
    if progress:
        progress(f"running on {target}", 0.0)
    start = time.monotonic()
    results = runner.run(prepared)
    calls = compared(case, results.calls)
    seconds = time.monotonic() - start
    return RunOutcome(target, calls, results.report, results.build, seconds, results.trace_loss)


def _baked(
    target: targets.Target,
    baked: bool | BakedBuild,
    build: RunnerBuild,
    prepared: PreparedCase,
    limits: Limits,
    trace: TraceRequest | None,
) -> BakedProgram:
    """Errors: InvalidArgument for options that baked programs do not support; the errors of baking and
    building."""
    limits.check_only_time("a baked program")
    if trace is not None:
        raise InvalidArgument(
            "trace: expected an interpreted program, got a baked one", next_step="Trace without baking."
        )
    return BakedProgram(target, baked if isinstance(baked, BakedBuild) else build.baked(prepared), limits)

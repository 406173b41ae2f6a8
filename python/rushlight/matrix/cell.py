# SPDX-License-Identifier: BSD-3-Clause
"""Builds and runs one cell, in this process."""

from __future__ import annotations

import math
import resource
import shutil
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rushlight import targets
from rushlight.build import BuildRequest, BuildResult, refuse_delegates, run_request
from rushlight.build.baked import BakedBuild, build_baked
from rushlight.build.cmake import Progress
from rushlight.build.sizes import Sizes
from rushlight.matrix.plan import Cell, Model
from rushlight.matrix.result import BUILT, FAILED, PASSED, CellResult, Failure, Memory, Timing
from rushlight.program import is_bundled_program, read_model
from rushlight.run.api import run
from rushlight.run.builds import cached_conversion
from rushlight.run.cases import Case, bundled_case, case_of_ones, load_case
from rushlight.run.outcome import RunOutcome


@dataclass(frozen=True)
class Conditions:
    """The conditions of builds: `compilers` parallel compile jobs, and an `environment` added to the
    process's. With `cold` each cell is first built as with an empty compiler cache. With `alone` no other
    cell runs in this process, so that the CPU time of its children can be measured. `keep_builds` keeps
    CMake's folder."""

    compilers: int = 1
    environment: Mapping[str, str] = field(default_factory=dict)
    cold: bool = False
    alone: bool = False
    keep_builds: bool = False


def case_of(model: Model) -> Case:
    """The case of a model. Errors: InvalidArgument, InvalidProgram."""
    if model.case is not None:
        case = load_case(model.case)
    elif is_bundled_program(model.program.read_bytes()):
        case = bundled_case(model.program)
    else:
        program = read_model(model.program)
        case = case_of_ones(program, program.plans[0].name)
    if model.tolerance is not None:
        case = replace(case, tolerance=model.tolerance)
    return replace(case, data_files=model.data) if model.data else case


def run_cell(
    cell: Cell, folder: Path, conditions: Conditions, progress: Progress | None = None
) -> CellResult:
    """Empties `folder`, builds there and runs. Any error becomes a failed result with the facts found before
    it."""
    result = CellResult(cell.model.name, cell.target, cell.option.name, cell.option.kind, FAILED)
    try:
        for step in _steps(cell, folder, conditions, result, progress):
            result = step
    except Exception as error:
        # Other cells continue after any error.
        result = replace(result, status=FAILED, failure=Failure.of(error))
    finally:
        if not conditions.keep_builds:
            shutil.rmtree(folder / "cmake-build", ignore_errors=True)
    return result


def _steps(
    cell: Cell, folder: Path, conditions: Conditions, result: CellResult, progress: Progress | None
) -> Iterator[CellResult]:
    """Yields the result after each step, with further facts."""
    refuse_delegates(read_model(cell.model.program), dict(cell.option.defines), converted=True)
    case = case_of(cell.model)
    program = cached_conversion(cell.model.program, integers=cell.option.integers, data_files=case.data_files)
    cell = replace(cell, model=replace(cell.model, program=program))
    make = _interpreter(cell, case, folder, conditions, progress)
    if cell.option.kind == "baked":
        make = _baked(cell, case, folder, conditions, progress)
    if conditions.cold:
        _, cold = _timed(make, folder, conditions, {"CCACHE_RECACHE": "1", "SCCACHE_RECACHE": "1"})
        result = replace(result, cold=cold)
    built, timing = _timed(make, folder, conditions, {})
    result = replace(
        result,
        build=timing,
        operators=built.runner.selection,
        flash=built.sizes.flash,
        model_bytes=built.sizes.model or cell.model.program.stat().st_size,
        sections=built.sizes.sections,
    )
    if targets.get(cell.target).build_only:
        yield replace(result, status=BUILT)
        return
    yield result
    outcome = run(
        cell.model.program,
        case,
        target=cell.target,
        built=built.runner if built.baked is None else None,
        linked_in=targets.get(cell.target).kind == "bare-metal",
        baked=built.baked or False,
        defines=dict(cell.option.defines),
        timeout=cell.timeout,
        progress=progress,
    )
    yield _with_run(result, outcome, built.sizes.ram)


@dataclass(frozen=True)
class _Built:
    """A runner for the case, and the sizes to report."""

    runner: BuildResult
    sizes: Sizes
    baked: BakedBuild | None = None


_Make = Callable[[Mapping[str, str]], _Built]
"""Builds with an environment."""


def _interpreter(
    cell: Cell, case: Case, folder: Path, conditions: Conditions, progress: Progress | None
) -> _Make:
    request = BuildRequest(
        target=cell.target,
        models=(cell.model.program,),
        data_files=case.data_files,
        dtypes=cell.option.dtypes,
        defines=dict(cell.option.defines),
    )

    def make(environment: Mapping[str, str]) -> _Built:
        built = run_request(
            request, folder, jobs=conditions.compilers, progress=progress, environment=environment
        )
        return _Built(built, built.sizes)

    return make


def _baked(cell: Cell, case: Case, folder: Path, conditions: Conditions, progress: Progress | None) -> _Make:
    def make(environment: Mapping[str, str]) -> _Built:
        built = build_baked(
            cell.model.program,
            target=cell.target,
            output=folder,
            data_files=case.data_files,
            defines=dict(cell.option.defines),
            jobs=conditions.compilers,
            progress=progress,
            # Only boards report the size of a minimal application.
            minimal=targets.get(cell.target).kind == "bare-metal",
            environment=environment,
        )
        sizes = next(iter(built.minimal.values()), built.result.sizes)
        return _Built(built.result, sizes, built)

    return make


def _timed(
    make: _Make,
    folder: Path,
    conditions: Conditions,
    environment: Mapping[str, str],
) -> tuple[_Built, Timing]:
    """Builds in an empty folder and measures the time."""
    shutil.rmtree(folder, ignore_errors=True)
    before = _cpu_of_children()
    built = make({**conditions.environment, **environment})
    cpu = _cpu_of_children() - before if conditions.alone else None
    runner = built.runner
    cache = runner.compiler_cache
    return built, Timing(
        seconds=round(runner.seconds, 3),
        configure_seconds=round(runner.configure_seconds, 3),
        cpu_seconds=None if cpu is None else round(cpu, 3),
        cache=cache.program if cache else None,
        hits=cache.hits if cache else None,
        remote_hits=cache.remote_hits if cache else None,
        misses=cache.misses if cache else None,
    )


def _with_run(result: CellResult, outcome: RunOutcome, static: int) -> CellResult:
    results = [call.result for call in outcome.calls]
    instructions = round(statistics.median(r.instructions for r in results))
    stack = max(r.stack_bytes for r in results)
    report = outcome.report
    assert report is not None  # runners have a report
    error = outcome.max_error
    return replace(
        result,
        status=PASSED if outcome.passed else FAILED,
        failure=None if outcome.passed else Failure("CheckFailed", "\n".join(outcome.reasons[:10])),
        compared=error is not None,
        max_error=error if error is not None and math.isfinite(error) else None,
        memory=Memory(
            static=static,
            method_arena=report.method_arena_bytes,
            planned=report.planned_bytes,
            temporary=report.temporary_peak_bytes,
            stack=stack or None,
        ),
        instructions=instructions or None,
        nanoseconds=round(statistics.median(r.ns for r in results)) or None,
        run_seconds=round(outcome.seconds, 3),
    )


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

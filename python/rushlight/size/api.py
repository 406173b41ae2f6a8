# SPDX-License-Identifier: BSD-3-Clause
"""Builds programs and measures their flash and RAM, as linked and at run time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rushlight import targets
from rushlight.build import BuildRequest, BuildResult, refuse_delegates, run_request
from rushlight.build.cmake import Progress
from rushlight.codegen.options import FEATURES, merged
from rushlight.errors import BuildOnly, InvalidArgument
from rushlight.program import read_model
from rushlight.run.api import run
from rushlight.run.cases import Case, cases_of_ones
from rushlight.run.outcome import RunOutcome
from rushlight.size.read import Built, find_build, read_build
from rushlight.size.report import SizeReport, measured


def size(
    models: Sequence[Path],
    *,
    target: str = "host",
    case: Case | None = None,
    data_files: Sequence[Path] = (),
    output: Path | None = None,
    defines: Mapping[str, str] | None = None,
    measure: bool = True,
    integers: bool = True,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> SizeReport:
    """Builds a runner for `models` (.pte, .bpte) below `output` (default: rushlight-build/size-<target>),
    with the compiler's call graph, and reads it. On boards each method then runs once in the emulator, on
    ones or on `case`, to measure the stack, unless `measure` is False. With `integers` a linked-in program
    is converted first, as in rushlight.build.

    Errors: the errors of building and running; InvalidArgument.
    """
    if not models:
        raise InvalidArgument(
            "models: expected at least one, got none",
            next_step="Name a model, or a build with --build or --elf.",
        )
    chosen = targets.get(target)
    for model in models:
        if not model.is_file():
            raise InvalidArgument(f"model {model}: no such file", next_step="Check the path.")
        refuse_delegates(read_model(model), dict(defines or {}), converted=True)
    request = BuildRequest(
        target=target,
        models=tuple(model.resolve() for model in models),
        data_files=tuple(path.resolve() for path in data_files),
        integers=integers,
        defines=merged({FEATURES: "call-graph"}, defines or {}),
    )
    folder = output or Path("rushlight-build") / f"size-{target}"
    built = run_request(request, folder, jobs=jobs, progress=progress)
    report = read_build(replace(find_build(folder), target=target), _inside(built, models))
    if not measure or chosen.kind != "bare-metal" or chosen.build_only:
        return report
    try:
        chosen.check_runs()
    except BuildOnly as error:
        return replace(report, unknown=(*report.unknown, f"measured stack: {error.message}"))
    return _measured(report, request, built, case, data_files)


def _inside(built: BuildResult, models: Sequence[Path]) -> list[Path]:
    """The programs in the runner, possibly converted, or the given ones."""
    return list(models) if built.linked_model is None else [built.linked_model]


def _measured(
    report: SizeReport,
    request: BuildRequest,
    built: BuildResult,
    case: Case | None,
    data_files: Sequence[Path],
) -> SizeReport:
    """Runs each model and adds the measured peaks. A single model is linked in; several share one runner."""
    outcomes: list[RunOutcome] = []
    for model in request.models:
        for one in [case] if case else cases_of_ones(read_model(model)):
            wanted = replace(one, data_files=tuple(data_files) or one.data_files)
            alone = len(request.models) == 1
            outcomes.append(
                run(
                    model,
                    wanted,
                    target=request.target,
                    build_folder=built.output if alone else None,
                    built=None if alone else built,
                    defines=dict(request.defines),
                    integers=request.integers,
                )
            )
    peaks: dict[str, int] = {}
    for outcome in outcomes:
        assert outcome.report is not None
        peaks[outcome.calls[-1].method] = outcome.report.temporary_peak_bytes
    return measured(report, max(outcome.stack_peak or 0 for outcome in outcomes) or None, peaks)


__all__ = ["Built", "find_build", "read_build", "size"]

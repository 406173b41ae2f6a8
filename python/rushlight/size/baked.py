# SPDX-License-Identifier: BSD-3-Clause
"""Measures the same model baked, without an interpreter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rushlight.build.baked import BakedBuild, build_baked
from rushlight.build.cmake import Progress
from rushlight.codegen.options import FEATURES, merged
from rushlight.program import read_model
from rushlight.run.api import run
from rushlight.run.cases import Case, cases_of_ones
from rushlight.size.read import Built, read_build
from rushlight.size.report import SizeReport


@dataclass(frozen=True)
class BakedSizes:
    """Reports of two executables: `runner` runs cases as executor_runner does, `application` only runs the
    program once. A baked program has no method arena; its planned memory is static."""

    runner: SizeReport
    application: SizeReport

    def to_json(self) -> dict[str, Any]:
        return {"runner": self.runner.to_json(), "application": self.application.to_json()}


def baked_sizes(
    model: Path,
    *,
    target: str,
    output: Path,
    case: Case | None = None,
    data_files: Sequence[Path] = (),
    defines: Mapping[str, str] | None = None,
    measure: bool = True,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> BakedSizes:
    """Bakes and builds `model` below `output`; with `measure` it runs once, on ones or on `case`.

    Errors: the errors of baking, building and running.
    """
    wanted = merged({FEATURES: "call-graph"}, defines or {})
    built = build_baked(
        model,
        target=target,
        output=output,
        data_files=data_files,
        defines=wanted,
        jobs=jobs,
        progress=progress,
    )
    folder = output.resolve() / "cmake-build"
    [application] = built.minimal_executables.values()
    runner = _report(folder / "baked_runner", folder, target, model)
    if measure:
        runner = replace(runner, stack_peak=_stack_peak(model, target, built, case, data_files))
    return BakedSizes(runner, _report(application, folder, target, model))


def _report(executable: Path, folder: Path, target: str, model: Path) -> SizeReport:
    built = Built(executable, executable.with_name(executable.name + ".map"), folder, target, (model,))
    report = read_build(built)
    return replace(report, methods=tuple(replace(method, method_arena=0) for method in report.methods))


def _stack_peak(
    model: Path, target: str, built: BakedBuild, case: Case | None, data_files: Sequence[Path]
) -> int | None:
    cases = [case] if case else cases_of_ones(read_model(model))
    outcomes = [
        run(model, replace(one, data_files=tuple(data_files) or one.data_files), target=target, baked=built)
        for one in cases
    ]
    return max(outcome.stack_peak or 0 for outcome in outcomes) or None

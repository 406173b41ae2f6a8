# SPDX-License-Identifier: BSD-3-Clause
"""The sizes that `rushlight size` reports for a board's program hold when it runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rushlight import targets
from rushlight.build.sizes import read_sizes
from rushlight.errors import OutOfMemory, OverBudget, TargetCrashed
from rushlight.run.api import run
from rushlight.run.cases import load_case
from rushlight.run.outcome import RunOutcome
from rushlight.size import SizeReport, find_build, read_build, size
from rushlight.size.baked import baked_sizes
from rushlight.size.budget import check_budget, read_budget
from rushlight.size.constants import constants_header

pytestmark = pytest.mark.device

INTEROP = Path(__file__).parents[1] / "interop"
MODEL = INTEROP / "model_dscnn" / "model.pte"


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=[getattr(pytest.mark, name.replace("-", "_"))])
        for name in ("cortex-m4", "rv32imac")
    ],
)
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SizeReport:
    """A model's report, with the measurements of a run."""
    if missing := targets.get(request.param).requirements():
        pytest.skip(f"{request.param}: missing " + ", ".join(item.name for item in missing))
    return size([MODEL], target=request.param, output=tmp_path_factory.mktemp(request.param))


def test_the_worst_case_of_the_stack_is_a_bound_close_to_what_is_used(report: SizeReport) -> None:
    stack, peak = report.stack, report.stack_peak
    assert stack is not None and peak is not None
    assert (stack.is_bound, report.unknown) == (True, ())
    # A convolution of the other layout would take more.
    assert peak <= stack.worst_case <= peak + 2560
    assert sum(step.bytes for step in stack.path) + stack.interrupt == stack.worst_case
    assert stack.execute >= max(stack.kernels.values()) > 0
    assert stack.frames["compiler"] > 150 and stack.frames["unknown"] == 0


def test_every_byte_has_its_place(report: SizeReport) -> None:
    sizes = read_sizes(Path(report.executable))
    assert (report.flash, report.ram, report.model) == (sizes.flash, sizes.ram, sizes.model)
    assert sum(entry.flash for entry in report.entries) == sizes.flash
    assert sum(entry.ram for entry in report.entries) == sizes.ram
    components = report.components
    assert {"runtime/executor", "kernels/walk", "startup", "generated table"} <= set(components)
    assert "unknown" not in components and components["padding"]["flash"] < 200
    assert set(report.operators) >= {"aten::convolution.out", "aten::relu.out"}
    assert report.dtypes.keys() == {"float32"}


def test_nothing_of_a_heap_or_of_exceptions_is_linked(report: SizeReport) -> None:
    assert report.forbidden == ()


def test_the_runtime_is_small_apart_from_what_verifies_programs(report: SizeReport) -> None:
    flash, verification = report.runtime["flash"], report.runtime["verification"]
    assert 3000 < verification < 5000
    assert 5000 < flash - verification < {"cortex-m4": 10_000, "rv32imac": 11_000}[report.target]


def test_a_budget_holds_the_program(report: SizeReport, tmp_path: Path) -> None:
    (tmp_path / "budget.yaml").write_text("flash: 60 kB\nram: 1 kB\nstack: 8 kB\narena: 74 kB\n")
    check_budget(report, read_budget(tmp_path / "budget.yaml"))
    (tmp_path / "budget.yaml").write_text("flash: 20 kB\nstack: 4 kB\n")
    with pytest.raises(OverBudget) as caught:
        check_budget(report, read_budget(tmp_path / "budget.yaml"))
    assert "flash" in {what for what, _, _ in caught.value.over}


def test_a_runner_has_just_enough_with_the_constants_and_not_with_less(
    report: SizeReport, tmp_path: Path
) -> None:
    folder = Path(report.executable).parent
    header = tmp_path / "memory.h"
    defines = {"RUSHLIGHT_FEATURES": "call-graph", "RUSHLIGHT_MEMORY_HEADER": str(header)}
    case = load_case(MODEL.with_name("case.json"))

    def run_with(text: str) -> RunOutcome:
        header.write_text(text)
        return run(MODEL, case, target=report.target, build_folder=folder, defines=defines)

    constants = constants_header(report)
    outcome = run_with(constants)
    [method] = report.methods
    assert outcome.passed and outcome.report is not None
    assert outcome.report.method_arena_bytes == method.method_arena
    assert outcome.report.planned_bytes == sum(method.planned)
    built = read_build(find_build(folder))
    assert built.stack is not None and f"kStack = {-(-built.stack.worst_case // 16) * 16};" in constants

    arena, planned = method.method_arena, method.planned[0]
    for enough, less in (
        (f'"forward", {arena},', f'"forward", {arena - 1},'),
        (f"kPlannedOf0[] = {{{planned}}}", f"kPlannedOf0[] = {{{planned - 1}}}"),
    ):
        assert enough in constants
        with pytest.raises(OutOfMemory):
            run_with(constants.replace(enough, less))
    assert outcome.stack_peak is not None
    shallow = f"kStack = {outcome.stack_peak // 16 * 16 - 16};"
    with pytest.raises(TargetCrashed, match="fault"):
        run_with(re.sub(r"kStack = \d+;", shallow, constants))


@pytest.mark.cortex_m55
def test_a_baked_program_is_measured_alike(tmp_path: Path) -> None:
    if missing := targets.get("cortex-m55").requirements():
        pytest.skip("cortex-m55: missing " + ", ".join(item.name for item in missing))
    model = INTEROP / "softplus" / "model.pte"
    baked = baked_sizes(model, target="cortex-m55", output=tmp_path)
    assert baked.application.flash < baked.runner.flash < 25_000
    for report in (baked.runner, baked.application):
        assert (report.unknown, report.forbidden) == ((), ())
        assert report.components["baked program"]["flash"] > 0 and "runtime/program" not in report.components
        assert sum(entry.flash for entry in report.entries) == report.flash
        assert report.methods[0].method_arena == 0 and report.stack is not None
    assert baked.runner.stack is not None and baked.runner.stack_peak is not None
    assert baked.runner.stack_peak <= baked.runner.stack.worst_case <= baked.runner.stack_peak + 1024

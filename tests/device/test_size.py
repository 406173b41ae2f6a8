# SPDX-License-Identifier: BSD-3-Clause
"""What `rushlight size` says of a board's program holds when it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushlight import targets
from rushlight.build.sizes import read_sizes
from rushlight.devtools.size import SizeReport, size

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
    """A model's report, with what a run measured."""
    if missing := targets.get(request.param).requirements():
        pytest.skip(f"{request.param}: missing " + ", ".join(item.name for item in missing))
    return size([MODEL], target=request.param, output=tmp_path_factory.mktemp(request.param))


def test_the_worst_case_of_the_stack_is_a_bound_close_to_what_is_used(report: SizeReport) -> None:
    stack, peak = report.stack, report.stack_peak
    assert stack is not None and peak is not None
    assert (stack.is_bound, report.unknown) == (True, ())
    assert peak <= stack.worst_case <= peak + 1024
    assert sum(step.bytes for step in stack.path) + stack.interrupt == stack.worst_case
    assert stack.execute >= max(stack.kernels.values()) > 0
    assert stack.frames["compiler"] > 150 and stack.frames["unknown"] == 0


def test_every_byte_has_its_place(report: SizeReport) -> None:
    sizes = read_sizes(Path(report.executable))
    assert (report.flash, report.ram, report.model) == (sizes.flash, sizes.ram, sizes.model)
    assert sum(entry.flash for entry in report.entries) == sizes.flash
    assert sum(entry.ram for entry in report.entries) == sizes.ram
    rooms = report.rooms
    assert {"runtime/executor", "kernels/shared", "startup", "generated table"} <= set(rooms)
    assert "unknown" not in rooms and rooms["padding"]["flash"] < 200
    assert set(report.operators) >= {"aten::convolution.out", "aten::relu.out"}
    assert report.dtypes.keys() == {"float32"}


def test_nothing_of_a_heap_or_of_exceptions_is_linked(report: SizeReport) -> None:
    assert report.forbidden == ()

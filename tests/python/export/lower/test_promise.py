# SPDX-License-Identifier: BSD-3-Clause
"""Export refuses a program that cannot run and names the line of the model. Each test has a twin with an
operator or a dtype dropped from the table."""

from __future__ import annotations

import inspect

import pytest
import torch

from rushlight.errors import NotExportable, UnknownTarget
from rushlight.export import OperatorLibrary, export

LIBRARY = OperatorLibrary.default()


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.erf(self.linear(x))  # the line of erf
        return torch.atan2(y, x)  # the line of atan2


class InBranch(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: torch.erf(x), lambda x: x * 2, (x,))


INPUTS = (torch.randn(2, 4),)


def line_of(comment: str) -> int:
    lines, first = inspect.getsourcelines(Model)
    return first + next(i for i, line in enumerate(lines) if f"# the line of {comment}" in line)


def refused(library: OperatorLibrary, module: torch.nn.Module | None = None) -> NotExportable:
    with pytest.raises(NotExportable) as caught:
        export(module or Model(), INPUTS, operators=library)
    return caught.value


def test_a_model_whose_operators_are_all_there_is_exported() -> None:
    assert export(Model(), INPUTS, operators=LIBRARY).buffer


@pytest.mark.parametrize(("row", "comment"), [("aten::erf.out", "erf"), ("aten::atan2.out", "atan2")])
def test_a_missing_operator_is_named_with_its_line(row: str, comment: str) -> None:
    error = refused(LIBRARY.without(row))
    (problem,) = error.problems
    assert f"{__file__}:{line_of(comment)}" in problem.where
    assert f"{__file__}:{line_of(comment)}" in error.message
    assert comment in problem.operator
    assert "float32" in problem.reason


def test_a_missing_dtype_is_named_with_its_line_and_a_cast() -> None:
    error = refused(LIBRARY.without("aten::erf.out", ["float32"]))
    (problem,) = error.problems
    assert f"{__file__}:{line_of('erf')}" in problem.where
    assert "float32" in problem.reason
    assert "cast float32 to float64" in problem.remedy


def test_all_nodes_are_listed_at_once() -> None:
    error = refused(LIBRARY.without("aten::erf.out").without("aten::atan2.out"))
    assert len(error.problems) == 2


def test_an_operator_inside_a_branch_is_named() -> None:
    assert export(InBranch(), INPUTS, operators=LIBRARY).buffer
    (problem,) = refused(LIBRARY.without("aten::erf.out"), InBranch()).problems
    assert "erf" in problem.operator


def test_the_module_is_named() -> None:
    (problem,) = refused(LIBRARY.without("aten::linear.out").without("aten::addmm.out")).problems[:1]
    assert "linear (Linear)" in problem.module


def test_a_size_without_a_bound_is_named() -> None:
    class Unbounded(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    with pytest.raises(NotExportable, match="no upper bound") as caught:
        export(Unbounded(), (torch.randn(3, 2),), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},))
    assert "max=" in caught.value.problems[0].remedy


def test_the_official_runtime_has_fewer_operators() -> None:
    class Special(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.special.bessel_j0(x)

    assert export(Special(), INPUTS).buffer
    with pytest.raises(NotExportable, match=r"executorch 1\.5\.1"):
        export(Special(), INPUTS, runtime="executorch")


class Large(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ x.T


def test_a_program_that_a_board_has_no_memory_for_is_refused() -> None:
    inputs = (torch.randn(2000, 2000),)
    assert export(Large(), inputs).buffer
    with pytest.raises(NotExportable, match="expected one that fits on cortex-m4"):
        export(Large(), inputs, target="cortex-m4")


def test_a_program_that_fits_is_exported_for_the_board() -> None:
    assert export(Model(), INPUTS, target="cortex-m4").buffer


def test_an_unknown_target_is_told() -> None:
    with pytest.raises(UnknownTarget):
        export(Model(), INPUTS, target="cortex-x")


def test_what_a_build_left_out_is_told() -> None:
    built = {"aten::linear.out": ["float32"], "aten::erf.out": ["float32"], "aten::atan2.out": ["float32"]}
    assert export(Model(), INPUTS, built=built).buffer
    with pytest.raises(NotExportable, match="not selected in this build") as caught:
        export(Model(), INPUTS, built={name: built[name] for name in list(built)[:2]})
    assert f"{__file__}:{line_of('atan2')}" in caught.value.problems[0].where
    with pytest.raises(NotExportable, match="is built for float64"):
        export(Model(), INPUTS, built=built | {"aten::erf.out": ["float64"]})

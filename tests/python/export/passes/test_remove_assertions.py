# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest
import torch
from torch.export import Dim

import rushlight
from rushlight.errors import RushlightError
from rushlight.export import OperatorLibrary, PassContext
from rushlight.export.frontend.decompositions import decomposition_table
from rushlight.export.passes.remove_assertions import RemoveAssertions
from rushlight.export.passes.remove_dead_code import RemoveDeadCode
from rushlight.export.passes.remove_effect_tokens import RemoveEffectTokens
from support.graphs import Fn, operators


def checked(library: OperatorLibrary) -> list[str]:
    """The operators of a matrix inverse, after the passes that take out checks."""
    exported = torch.export.export(Fn(torch.linalg.inv), (torch.eye(3),), strict=False)
    program = exported.run_decompositions(decomposition_table(library))
    for each in (RemoveEffectTokens(), RemoveAssertions(), RemoveDeadCode()):
        each.run(program, PassContext(library))
    return operators(program)


def test_assertions_on_sizes_go() -> None:
    def function(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        size = n.item()
        torch._check(size >= 1)
        torch._check(size <= 4)
        return x[:size]

    program = torch.export.export(
        Fn(function), (torch.randn(4), torch.tensor(2)), dynamic_shapes=(({0: Dim("n", max=9)}, None),)
    ).run_decompositions({})
    assert any("assert" in name for name in operators(program))
    assert RemoveAssertions().run(program, PassContext(OperatorLibrary.default()))
    assert not any("assert" in name for name in operators(program))


def test_a_check_that_the_runtime_has_stays() -> None:
    assert "_linalg_check_errors" in checked(OperatorLibrary.default())


def test_a_check_that_the_runtime_has_not_goes() -> None:
    library = OperatorLibrary.default().without("aten::_linalg_check_errors")
    assert "_linalg_check_errors" not in checked(library)


def test_a_singular_matrix_is_an_error_when_the_program_runs() -> None:
    method = rushlight.load(rushlight.export(Fn(torch.linalg.inv), (torch.eye(3),)).buffer).load_method(
        "forward"
    )
    torch.testing.assert_close(torch.as_tensor(method.execute([torch.eye(3) * 2])[0]), torch.eye(3) / 2)
    with pytest.raises(RushlightError):
        method.execute([torch.zeros(3, 3)])

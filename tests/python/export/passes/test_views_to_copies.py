# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest
import torch

from rushlight.export.passes import PassContext
from rushlight.export.passes.views_to_copies import ViewsToCopies, copy_of_view
from support.graphs import LIBRARY, Fn, operators, run

aten = torch.ops.aten
X = torch.randn(2, 3, 4)

VIEWS = {
    "view_copy": lambda x: x.view(6, 4),
    "permute_copy": lambda x: x.permute(2, 0, 1),
    "select_copy": lambda x: x[1],
    "slice_copy": lambda x: x[:, 1:],
    "split_with_sizes_copy": lambda x: x.split([1, 2], 1)[1],
    "unbind_copy": lambda x: x.unbind(1)[0],
    "diagonal_copy": lambda x: x.diagonal(0, 1, 2),
    "unfold_copy": lambda x: x.unfold(2, 2, 1),
    "as_strided_copy": lambda x: x.as_strided((2, 2), (1, 2)),
    "expand_copy": lambda x: x[:, :1].expand(2, 5, 4),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_becomes_a_copy_of_the_same_meaning(name: str) -> None:
    program = torch.export.export(Fn(VIEWS[name]), (X,)).run_decompositions({})
    assert ViewsToCopies().run(program, PassContext(LIBRARY))
    assert name in operators(program)
    torch.testing.assert_close(run(program, X), [VIEWS[name](X)])


def test_a_view_of_a_permutation_can_be_run() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return aten._unsafe_view(x.transpose(1, 2).contiguous(), [2, 12])

    program = torch.export.export(Fn(function), (X,)).run_decompositions({})
    ViewsToCopies().run(program, PassContext(LIBRARY))
    assert operators(program)[-1] == "view_copy"
    torch.testing.assert_close(run(program, X), [function(X)])


@pytest.mark.parametrize(
    "function", [aten.sin.default, aten.view_copy.default, aten.sin, len, aten.clone.default]
)
def test_what_is_no_view_has_no_copy(function: object) -> None:
    assert copy_of_view(function) is None

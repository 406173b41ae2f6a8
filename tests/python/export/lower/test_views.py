# SPDX-License-Identifier: BSD-3-Clause
"""Views that take no kernel: aliases of a storage, and et_view where sizes or places come at run time."""

from __future__ import annotations

import torch
from torch.export import Dim

from support.lowered import calls, check, lower, rows


def test_a_reshape_of_a_known_tensor_takes_no_instruction() -> None:
    method = lower(lambda x: (x + 1).view(6, 2).relu(), torch.randn(3, 4))
    assert rows(method) == ["aten::add.Scalar_out", "aten::relu.out"]
    (add,), (relu,) = calls(method, "aten::add.Scalar_out"), calls(method, "aten::relu.out")
    assert relu.arguments[0].storage is add.results[0].storage
    assert relu.arguments[0].sizes == (6, 2)


def test_an_outermost_slice_is_a_piece_of_its_storage() -> None:
    method = lower(lambda x: (x + 1)[4:8].relu(), torch.randn(16, 4))
    (relu,) = calls(method, "aten::relu.out")
    assert rows(method) == ["aten::add.Scalar_out", "aten::relu.out"]
    assert (relu.arguments[0].offset, relu.arguments[0].sizes) == (64, (4, 4))


def test_an_inner_slice_is_copied() -> None:
    method = lower(lambda x: (x + 1)[:, 1:3].relu(), torch.randn(4, 4))
    assert "aten::slice_copy.Tensor_out" in rows(method)


def test_a_piece_that_does_not_begin_at_an_aligned_byte_is_copied() -> None:
    method = lower(lambda x: (x + 1)[1:3].relu(), torch.randn(4, 3))
    assert "aten::slice_copy.Tensor_out" in rows(method)


def test_parts_of_a_split_lie_in_its_source() -> None:
    check(lambda x: [part * 2 for part in (x + 1).split([4, 8, 4])], (torch.randn(16, 6),))
    method = lower(lambda x: [part * 2 for part in (x + 1).split([4, 8, 4])], torch.randn(16, 6))
    offsets = [call.arguments[0].offset for call in calls(method, "aten::mul.Scalar_out")]
    assert offsets == [0, 96, 288]


def test_slices_of_constants_are_stored_as_their_bytes() -> None:
    class Parts(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(8, 4))

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            first, second = self.weight.split([4, 4])
            return x @ first, x + second[0]

    check(Parts(), (torch.randn(2, 4),))


def test_a_reshape_of_a_dynamic_tensor_is_an_et_view() -> None:
    shapes = ({0: Dim("n", max=10)},)
    x = torch.randn(4, 6)
    method = lower(lambda x: (x + 1).view(-1, 3) * 2, x, dynamic_shapes=shapes)
    (view,) = calls(method, "executorch_prim::et_view.default")
    assert view.results[0].is_dynamic
    assert view.results[0].sizes == (20, 3)
    check(lambda x: (x + 1).view(-1, 3) * 2, (x,), (torch.randn(9, 6),), dynamic_shapes=shapes)


def test_a_reshape_of_the_callers_memory_is_an_et_view() -> None:
    exported = check(lambda x: x.view(6, 2).relu(), (torch.randn(3, 4),), plan_inputs=False)
    assert "executorch_prim::et_view.default" in exported.parts.methods[0].operators


def test_moving_a_dimension_of_size_one_takes_no_instruction() -> None:
    method = lower(lambda x: (x + 1).permute(0, 2, 1, 3) * 2, torch.randn(2, 1, 4, 3))
    assert rows(method) == ["aten::add.Scalar_out", "aten::mul.Scalar_out"]


def test_other_permutations_are_copied() -> None:
    method = lower(lambda x: (x + 1).permute(1, 0) * 2, torch.randn(2, 3))
    assert "aten::permute_copy.out" in rows(method)


def test_a_view_of_a_channels_last_tensor_is_no_alias() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return (x + 1).contiguous().view(2, 12) * 2

    x = torch.randn(2, 3, 2, 2).to(memory_format=torch.channels_last)
    check(function, (x,))

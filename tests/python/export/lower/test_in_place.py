# SPDX-License-Identifier: BSD-3-Clause
"""Results written over inputs that end."""

from __future__ import annotations

import numpy as np
import torch
from torch.export import Dim

import rushlight
from rushlight.lowered.in_place import reuse_inputs
from rushlight.lowered.instructions import LoweredMethod, MemoryKind, TensorOperand
from support.graphs import LIBRARY
from support.lowered import calls, check, lower


def storages(method: LoweredMethod, *names: str) -> list[object]:
    """The storages of the results of rows, in the order of the code."""
    return [call.results[0].storage for call in method.code if getattr(call, "row", "") in names]


def test_a_chain_of_elementwise_operators_has_one_storage() -> None:
    method = lower(lambda x: torch.exp(torch.relu(x @ x)), torch.randn(3, 3))
    assert reuse_inputs(method, LIBRARY.has_trait) == 2
    assert len(set(map(id, storages(method, "aten::mm.out", "aten::relu.out", "aten::exp.out")))) == 1


def test_an_input_of_the_method_may_be_overwritten_by_the_plan() -> None:
    method = lower(lambda x: x + 1, torch.randn(3))
    assert reuse_inputs(method, LIBRARY.has_trait) == 1


def test_the_callers_memory_is_not_overwritten() -> None:
    x = np.array([-1.0, 0.0, 2.0], np.float32)
    exported = check(lambda x: x + 1, (torch.from_numpy(x),), plan_inputs=False)
    method = rushlight.load(exported.buffer).load_method("forward")
    (result,) = method.execute([x])
    assert result.tolist() == [0, 1, 3]
    assert x.tolist() == [-1, 0, 2]


def test_what_is_read_later_is_not_overwritten() -> None:
    method = lower(lambda x: torch.relu(x @ x) + (x @ x).exp(), torch.randn(3, 3))
    # mm is computed once and read twice: the first reader has separate storage.
    reuse_inputs(method, LIBRARY.has_trait)
    (mm,) = calls(method, "aten::mm.out")
    readers = [c for c in method.code if c is not mm and any(a is mm.results[0] for a in c.arguments)]
    assert readers[0].results[0].storage is not mm.results[0].storage
    assert readers[1].results[0].storage is mm.results[0].storage
    check(lambda x: torch.relu(x @ x) + (x @ x).exp(), (torch.randn(3, 3),))


def test_an_output_is_not_overwritten() -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = x @ x
        return y, y + 1

    check(function, (torch.randn(3, 3),))


def test_a_smaller_input_that_is_broadcast_is_not_overwritten() -> None:
    check(lambda x: (x.sum(0, keepdim=True) + x.exp()) * 2, (torch.randn(4, 3),))
    method = lower(lambda x, y: (x @ y) + (y @ x).sum(0), torch.randn(3, 3), torch.randn(3, 3))
    reuse_inputs(method, LIBRARY.has_trait)
    (total,), (add,) = calls(method, "aten::sum.IntList_out"), calls(method, "aten::add.out")
    assert add.results[0].storage is not total.results[0].storage


def test_bounds_alone_do_not_make_shapes_equal() -> None:
    # At n = 1 the left one is broadcast: written over it, the sum would read what it wrote.
    shapes = ({0: Dim("n", max=8)}, {0: Dim("m", max=8)})

    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.exp(x)[:, None].expand(-1, y.shape[0]).sum(1) + x

    check(function, (torch.randn(3), torch.randn(5)), (torch.randn(2), torch.randn(8)), dynamic_shapes=shapes)
    method = lower(lambda x, y: x.exp()[:1] + y.exp(), torch.randn(3), torch.randn(5), dynamic_shapes=shapes)
    reuse_inputs(method, LIBRARY.has_trait)
    assert storages(method, "aten::add.out")[0] is not storages(method, "aten::exp.out")[0]


def test_another_dtype_has_another_storage() -> None:
    method = lower(lambda x: (x @ x) > 0, torch.randn(3, 3))
    assert reuse_inputs(method, LIBRARY.has_trait) == 0


def test_constants_are_not_overwritten() -> None:
    method = lower(lambda c: c + 1, c=torch.randn(3))
    reuse_inputs(method, LIBRARY.has_trait)
    written = [r for call in method.code for r in call.results if isinstance(r, TensorOperand)]
    assert all(tensor.storage.kind is not MemoryKind.CONSTANT for tensor in written)


def test_a_tensor_whose_view_is_read_later_is_not_overwritten() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = x @ x
        return torch.relu(y).sum() + y.view(-1)[0:4].exp().sum()

    check(function, (torch.randn(4, 4),))

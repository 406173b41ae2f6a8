# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.ao.quantization.fx import _decomposed  # noqa: F401, registers quantized_decomposed
from torch.export import ExportedProgram

from rushlight.export.graph.constants import is_lifted, stored_tensor
from rushlight.export.passes.fold_constants import FoldConstants
from support.graphs import Fn, apply, assert_same, core_aten, operators

W = torch.randn(32, 64)


def folded(function: Any, *args: Any, **tensors: torch.Tensor) -> ExportedProgram:
    module = function if isinstance(function, nn.Module) else Fn(function, **tensors)
    program = core_aten(module, args)
    apply(program, FoldConstants())
    assert_same(program, module, *args)
    return program


def stored(program: ExportedProgram) -> dict[str, torch.Tensor]:
    specs = program.graph_signature.input_specs
    return {str(spec.target): stored_tensor(program, spec) for spec in specs if is_lifted(spec)}


def test_a_permuted_weight_takes_the_place_of_its_original() -> None:
    program = folded(lambda x, w: x @ w.t(), torch.randn(2, 64), w=W)
    assert operators(program) == ["mm"]
    ((name, tensor),) = stored(program).items()
    assert (name, tensor.shape) == ("w_1", (64, 32))


def test_looking_at_a_weight_copies_nothing() -> None:
    module = Fn(lambda x, w: x @ w.permute(1, 0), w=W.clone())
    program = folded(module, torch.randn(2, 64))
    (tensor,) = stored(program).values()
    assert tensor.data_ptr() == module.w.data_ptr()


def test_looking_at_what_was_computed_keeps_no_more_than_is_stored() -> None:
    program = folded(lambda x, w: x @ (w * 2).t()[:, :16], torch.randn(2, 64), w=W.clone())
    (tensor,) = stored(program).values()
    assert tensor.is_contiguous() and tensor.untyped_storage().nbytes() == tensor.nbytes == 4 * 64 * 16


def test_a_permuted_weight_stays_where_the_original_is_read_too() -> None:
    program = folded(lambda x, w: (x @ w.t(), w.sum() + x.sum(), w * 2 * x.sum()), torch.randn(2, 64), w=W)
    assert "permute_copy" in operators(program)
    assert set(stored(program)) >= {"w"}


def test_weight_norm_is_computed_at_export() -> None:
    module = torch.nn.utils.parametrizations.weight_norm(nn.Linear(64, 32))
    program = folded(module, torch.randn(2, 64))
    assert operators(program) == ["linear"]


def test_chains_of_small_constants_are_folded() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x + torch.arange(4).to(torch.float32).mul(2).exp().view(2, 2)

    program = folded(function, torch.randn(2, 2))
    assert operators(program) == ["add"]


BLOWN_UP = {
    "full": lambda x, c: x + torch.full([100, 1000], 1.0),
    "expand": lambda x, c: x + c.expand(100, 1000).clone(),
    "repeat": lambda x, c: x + c.repeat(100, 1),
    "outer product": lambda x, c: x + c.t()[:100] * c,
}


@pytest.mark.parametrize("name", BLOWN_UP)
def test_what_blows_up_is_not_stored(name: str) -> None:
    program = folded(BLOWN_UP[name], torch.randn(100, 1000), c=torch.randn(1, 1000))
    assert sum(t.numel() for t in stored(program).values()) <= 1000 + 100
    assert operators(program)[-1] == "add" and len(operators(program)) > 1


def test_a_cast_to_a_wider_dtype_is_not_stored() -> None:
    c = torch.randint(-128, 127, (64, 64), dtype=torch.int8)
    program = folded(lambda x, c: x @ c.to(torch.float32), torch.randn(1, 64), c=c)
    assert operators(program) == ["_to_copy", "mm"]


def test_a_cast_to_a_narrower_dtype_is_stored() -> None:
    program = folded(lambda x, w: x.half() @ w.half().t(), torch.randn(2, 64), w=W)
    (tensor,) = stored(program).values()
    assert tensor.dtype is torch.float16


def test_quantized_weights_stay_quantized() -> None:
    def function(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        q = torch.ops.quantized_decomposed
        w = q.quantize_per_tensor(w, 0.02, 0, -127, 127, torch.int8)
        return x @ q.dequantize_per_tensor(w, 0.02, 0, -127, 127, torch.int8).t()

    program = folded(function, torch.randn(2, 64), w=W)
    assert operators(program) == ["dequantize_per_tensor", "permute_copy", "mm"]
    (tensor,) = stored(program).values()
    assert tensor.dtype is torch.int8


def test_random_numbers_are_drawn_when_it_runs() -> None:
    program = core_aten(lambda x: x + torch.rand(2, 2), (torch.randn(2, 2),))
    assert not apply(program, FoldConstants())


class Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        before = self.count * 2
        self.count.add_(1)
        return x + before


def test_buffers_that_change_are_no_constants() -> None:
    program = core_aten(Counter(), (torch.randn(2),))
    assert not apply(program, FoldConstants())


def test_parts_of_a_constant_are_folded() -> None:
    def function(x: torch.Tensor, w: torch.Tensor) -> Any:
        a, b = w.split(16)
        return x @ a.t(), x @ b.t()

    program = folded(function, torch.randn(2, 64), w=W)
    assert operators(program) == ["mm", "mm"]


def test_a_constant_output_is_stored() -> None:
    program = folded(lambda x, w: (x.sin(), w.t()), torch.randn(2), w=W)
    assert operators(program) == ["sin"]


def test_sizes_that_are_symbols_are_not_folded() -> None:
    batch = torch.export.Dim("batch", min=2, max=8)
    program = core_aten(lambda x: x + torch.ones(x.shape[0], 1), (torch.randn(3, 4),), ({0: batch},))
    assert not apply(program, FoldConstants())

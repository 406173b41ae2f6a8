# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.ao.quantization.fx._decomposed  # registers the operators
from torch.export import ExportedProgram

from rushlight.export.dialect import quantized
from rushlight.export.graph.constants import Constants
from rushlight.export.passes import PassContext
from rushlight.export.passes.fold_constants import FoldConstants
from rushlight.export.passes.grouped_weights import GroupedWeights
from support.graphs import LIBRARY, Fn, apply, assert_same, core_aten, operators

ops = torch.ops.quantized_decomposed
functional = torch.nn.functional


def weight(rows: int, columns: int, groups: int, bits: int = 8) -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    top = 2 ** (bits - 1)
    integers = torch.randint(-top, top, (rows, columns), dtype=torch.int8)
    return {
        "w": integers,
        "scales": torch.rand(rows, groups) + 0.1,
        "points": torch.zeros(rows, groups, dtype=torch.int8),
    }


def real(w: Any, scales: Any, points: Any, bits: int = 8, dtype: torch.dtype = torch.float32) -> Any:
    top = 2 ** (bits - 1)
    group = w.shape[1] // scales.shape[1]
    form = (scales, points, -top, top - 1, torch.int8, group, dtype)
    return ops.dequantize_per_channel_group.default(w, *form)


def rewritten(function: Any, *args: torch.Tensor, tensors: dict[str, torch.Tensor], shapes: Any = None):
    module = Fn(function, **tensors)
    program = core_aten(module, args, None if shapes is None else (shapes,))
    assert apply(program, FoldConstants(), GroupedWeights())
    assert_same(program, module, *args, atol=1e-4, rtol=1e-5)
    return program


def constants_of(program: ExportedProgram) -> list[tuple[torch.dtype, tuple[int, ...]]]:
    constants = Constants(program)
    found = [constants.get(n) for n in program.graph.nodes if n.op == "placeholder"]
    return [(tensor.dtype, tuple(tensor.shape)) for tensor in found if tensor is not None]


def test_an_embedding_of_bytes_reads_its_rows_from_them() -> None:
    indices = torch.tensor([[3, 0], [9, 3]])
    program = rewritten(
        lambda i, w, scales, points: functional.embedding(i, real(w, scales, points)),
        indices,
        tensors=weight(10, 6, 3),
    )
    assert operators(program) == ["embedding_byte"]
    assert constants_of(program) == [(torch.int8, (10, 6)), (torch.float32, (10, 3))]


def test_an_embedding_of_four_bits_has_two_numbers_in_a_byte() -> None:
    program = rewritten(
        lambda i, w, scales, points: functional.embedding(i, real(w, scales, points, 4)),
        torch.tensor([3, 0]),
        tensors=weight(10, 6, 1, bits=4),
    )
    assert operators(program) == ["embedding_4bit"]
    assert sorted(constants_of(program), key=str) == [(torch.float32, (10,)), (torch.uint8, (10, 3))]


@pytest.mark.parametrize("shape", [(4, 6), (6,), (2, 3, 6)])
def test_a_linear_layer_multiplies_with_bytes(shape: tuple[int, ...]) -> None:
    tensors = weight(5, 6, 1) | {"bias": torch.randn(5)}
    program = rewritten(
        lambda x, w, scales, points, bias: functional.linear(x, real(w, scales, points), bias),
        torch.randn(shape),
        tensors=tensors,
    )
    plain = ["mixed_linear", "add"]
    assert operators(program) == (plain if len(shape) == 2 else ["view_copy", *plain, "view_copy"])
    assert (torch.int8, (5, 6)) in constants_of(program)


def test_a_linear_layer_of_any_number_of_rows_multiplies_with_bytes() -> None:
    batch = torch.export.Dim("batch", min=2, max=9)

    def run(x, w, scales, points):
        return functional.linear(x, real(w, scales, points))

    tensors = weight(5, 6, 1)
    program = rewritten(run, torch.randn(4, 3, 6), tensors=tensors, shapes=({0: batch},))
    assert "mixed_linear" in operators(program)
    for batches in (2, 9):
        module = Fn(
            lambda x, w, scales, points: functional.linear(x, real(w, scales, points)), **weight(5, 6, 1)
        )
        assert_same(program, module, torch.randn(batches, 3, 6), atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize(("groups", "bits"), [(3, 8), (1, 4), (3, 4)])
def test_other_linear_layers_read_rows_that_an_embedding_dequantizes(groups: int, bits: int) -> None:
    program = rewritten(
        lambda x, w, scales, points: functional.linear(x, real(w, scales, points, bits)),
        torch.randn(4, 6),
        tensors=weight(5, 6, groups, bits),
    )
    assert operators(program) == ["embedding_byte" if bits == 8 else "embedding_4bit", "linear"]


def test_a_matrix_with_a_scale_for_each_row_is_dequantized_by_channels() -> None:
    def run(x, w, scales, points):
        return functional.conv1d(x, real(w, scales, points).reshape(5, 2, 3))

    program = rewritten(run, torch.randn(1, 2, 8), tensors=weight(5, 6, 1))
    assert operators(program)[:2] == ["dequantize_per_channel", "view_copy"]


def test_an_odd_number_of_columns_stays_in_bytes() -> None:
    program = rewritten(
        lambda i, w, scales, points: functional.embedding(i, real(w, scales, points, 4)),
        torch.tensor([3, 0]),
        tensors=weight(10, 5, 1, bits=4),
    )
    assert operators(program) == ["embedding_byte"]


def test_zero_points_are_kept_where_there_are_any() -> None:
    tensors = weight(5, 6, 2)
    tensors["points"][1, 1] = 7
    program = rewritten(
        lambda x, w, scales, points: functional.linear(x, real(w, scales, points)),
        torch.randn(4, 6),
        tensors=tensors,
    )
    assert operators(program) == ["embedding_byte", "linear"]
    assert constants_of(program).count((torch.float32, (5, 2))) == 2


def test_one_weight_serves_an_embedding_and_a_linear_layer() -> None:
    def run(i, w, scales, points):
        table = real(w, scales, points, 4)
        return functional.linear(functional.embedding(i, table), table)

    program = rewritten(run, torch.tensor([1, 2]), tensors=weight(10, 6, 1, bits=4))
    assert operators(program) == ["embedding_4bit", "embedding_4bit", "linear"]
    assert constants_of(program).count((torch.uint8, (10, 3))) == 1


def test_without_the_kernel_a_linear_layer_reads_floats() -> None:
    module = Fn(lambda x, w, scales, points: functional.linear(x, real(w, scales, points)), **weight(5, 6, 1))
    program = core_aten(module, (torch.randn(4, 6),))
    library = LIBRARY.without("quantized_decomposed::mixed_linear.out")
    assert GroupedWeights().run(program, PassContext(library))
    assert operators(program) == ["dequantize_per_channel", "linear"]


def test_a_weight_that_is_computed_stays_and_is_remarked() -> None:
    def run(x, w, scales, points):
        return functional.linear(x, real(w + x.sum().to(torch.int8), scales, points))

    program = core_aten(Fn(run, **weight(5, 6, 1)), (torch.randn(4, 6),))
    context = PassContext(LIBRARY)
    GroupedWeights().run(program, context)
    assert "dequantize_per_channel_group" in operators(program)
    assert "not constant" in context.remarks[0]


def test_packing_four_bits_is_undone_by_unpacking() -> None:
    numbers = torch.arange(-8, 8, dtype=torch.int8).reshape(2, 8)
    packed = quantized.pack_four_bits(numbers)
    assert packed.dtype == torch.uint8
    assert packed[0, 0] == 0x01, "-8 and -7, the first in the upper half"
    assert torch.equal(quantized.unpack_four_bits(packed), numbers)

# SPDX-License-Identifier: BSD-3-Clause
"""Samples of PyTorch's OpInfo database on boards: the same kernels as in the host's tests, compiled for size
and for another processor. One program makes the calls; their tensors are its inputs and outputs.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from support.boards import need, parameters
from support.calls_program import computed, problem
from support.opinfo.recording import RecordedCall, record

pytestmark = pytest.mark.device

# Operators of every family, and the database entries that call them.
OPERATORS = {
    "aten::add.out": "add",
    "aten::div.out_mode": "div/floor_rounding",
    "aten::remainder.Tensor_out": "remainder",
    "aten::pow.Tensor_Tensor_out": "pow",
    "aten::maximum.out": "maximum",
    "aten::eq.Tensor_out": "eq",
    "aten::bitwise_xor.Tensor_out": "bitwise_xor",
    "aten::where.self_out": "where",
    "aten::masked_fill.Scalar_out": "masked_fill",
    "aten::abs.out": "abs",
    "aten::exp.out": "exp",
    "aten::tanh.out": "tanh",
    "aten::sigmoid.out": "sigmoid",
    "aten::gelu.out": "nn.functional.gelu",
    "aten::hardtanh.out": "nn.functional.hardtanh",
    "aten::round.decimals_out": "round/decimals_3",
    "aten::_to_copy.out": "to",
    "aten::sum.IntList_out": "sum",
    "aten::mean.out": "mean",
    "aten::amax.out": "amax",
    "aten::argmax.out": "argmax",
    "aten::var.correction_out": "var",
    "aten::any.out": "any",
    "aten::cumsum.out": "cumsum",
    "aten::mm.out": "mm",
    "aten::bmm.out": "bmm",
    "aten::addmm.out": "addmm",
    "aten::convolution.out": "nn.functional.conv2d",
    "aten::native_layer_norm.out": "native_layer_norm",
    "aten::_native_batch_norm_legit_no_training.out": "nn.functional.batch_norm",
    "aten::_softmax.out": "softmax",
    "aten::_log_softmax.out": "log_softmax",
    "aten::max_pool2d_with_indices.out": "nn.functional.max_pool2d",
    "aten::avg_pool2d.out": "nn.functional.avg_pool2d",
    "aten::upsample_bilinear2d.out": "nn.functional.interpolate/bilinear",
    "aten::grid_sampler_2d.out": "grid_sampler_2d",
    "aten::cat.out": "cat",
    "aten::permute_copy.out": "permute",
    "aten::slice_copy.Tensor_out": "slice",
    "aten::split_with_sizes_copy.out": "split_with_sizes",
    "aten::constant_pad_nd.out": "constant_pad_nd",
    "aten::flip.out": "flip",
    "aten::arange.start_out": "arange",
    "aten::gather.out": "gather",
    "aten::index.Tensor_out": "__getitem__",
    "aten::index_put.out": "index_put",
    "aten::scatter_add.out": "scatter_add",
    "aten::embedding.out": "nn.functional.embedding",
    "aten::nonzero.out": "nonzero",
    "aten::sort.values_stable": "sort",
    "aten::topk.values": "topk",
    "aten::linalg_lu_factor_ex.out": "linalg.lu_factor_ex",
    "aten::linalg_cholesky_ex.L": "linalg.cholesky_ex",
    "aten::_fft_r2c.out": "fft.rfft",
}
DTYPES = [torch.float32, torch.float16, torch.int64, torch.uint8, torch.bool, torch.complex64]
SAMPLES_EACH = 6
MAX_ELEMENTS = 4000

BOARDS = ["cortex-m4", "rv32imafc"]


@pytest.fixture(scope="module")
def calls() -> list[RecordedCall]:
    """The calls that the boards compute."""
    return record(OPERATORS, DTYPES, samples_each=SAMPLES_EACH, max_elements=MAX_ELEMENTS)


@pytest.mark.parametrize("board", parameters(BOARDS))
def test_a_board_computes_what_pytorch_does(calls: list[RecordedCall], board: str, tmp_path: Path) -> None:
    need(board)
    results = computed(calls, board, tmp_path)
    problems = [problem(*item) for item in zip(calls, results, strict=True)]
    wrong = list(filter(None, problems))
    assert not wrong, f"{len(wrong)} of {len(calls)} calls:\n" + "\n".join(wrong[:20])


def test_every_operator_is_called(calls: list[RecordedCall]) -> None:
    assert {call.row for call in calls} == OPERATORS.keys()


def altered(result: torch.Tensor) -> torch.Tensor:
    """The same result with its largest element changed."""
    changed = result.clone(memory_format=torch.contiguous_format)
    largest = changed.to(torch.complex128).abs().nan_to_num().argmax()
    changed.view(-1)[largest] = 0 if changed.view(-1)[largest] else 1
    return changed


def test_one_wrong_element_is_found(calls: list[RecordedCall]) -> None:
    for call in calls:
        first, *others = call.expected
        assert problem(call, [first, *others]) == ""
        if first.numel():
            assert problem(call, [altered(first), *others]), f"{call}: {first}"

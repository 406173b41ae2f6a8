# SPDX-License-Identifier: BSD-3-Clause
"""Samples of PyTorch's OpInfo database on boards: the kernels that the host's tests call, compiled for size
and for another processor. One program makes the calls, and takes and hands out all their tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from harness import DTYPE_NUMBERS, MEMORY_FORMAT_NUMBERS, dim_order
from judging import judge
from programs import Plan, numbers, program, scalar, string, tensor, tensors
from recording import RecordedCall, record

from rushlight import targets
from rushlight.devtools.cases import Call, Case
from rushlight.devtools.run import run

pytestmark = pytest.mark.device

# Some of every family, and the entry of the database that calls it.
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


class CallsProgram:
    """A program that makes calls. All tensors of them are inputs, in order, and all outs are outputs."""

    def __init__(self, calls: Sequence[RecordedCall]) -> None:
        rows = sorted({call.row for call in calls})
        self._plan = Plan(operators=[tuple(row.split(".")) for row in rows])
        self._outs = {id(out) for call in calls for out in call.outs}
        self._end = 0
        for call in calls:
            kinds = [str(argument.type) for argument in call.schema.arguments]
            arguments = [self._value(*item) for item in zip(call.arguments, kinds, strict=True)]
            self._plan.calls.append((rows.index(call.row), arguments))
        self._plan.buffer_sizes = [0, self._end]

    def file(self) -> bytes:
        """The program."""
        return program(self._plan)

    def _add(self, build: Any) -> int:
        self._plan.values.append(build)
        return len(self._plan.values) - 1

    def _value(self, item: Any, kind: str) -> int:
        """Adds an argument of a kind as schemas name them ("Optional[List[int]]"); returns its index."""
        if isinstance(item, torch.Tensor):
            return self._tensor(item)
        if item is not None and "List" in kind:
            return self._list(item if isinstance(item, (list, tuple)) else [item], kind)
        if isinstance(item, str):
            return self._add(string(item))
        if isinstance(item, (torch.layout, torch.device)):
            item = 0
        item = {**DTYPE_NUMBERS, **MEMORY_FORMAT_NUMBERS}.get(item, item)
        return self._add(scalar(float(item) if item is not None and "float" in kind else item))

    def _list(self, items: Sequence[Any], kind: str) -> int:
        if "Tensor" in kind:
            indices = [-1 if item is None else self._tensor(item) for item in items]
            return self._add(tensors(indices, optional="Optional[Tensor]" in kind))
        if "float" in kind or "bool" in kind:
            return self._add(numbers(float if "float" in kind else bool, items))
        return self._add(numbers(int, [self._add(scalar(int(item))) for item in items]))

    def _tensor(self, item: torch.Tensor) -> int:
        name = str(item.dtype).removeprefix("torch.")
        added = self._add(tensor(name, item.shape, offset=self._end, dim_order=dim_order(item)))
        self._end += -(-item.nbytes // 16) * 16
        self._plan.inputs.append(added)
        if id(item) in self._outs:
            self._plan.outputs.append(added)
        return added


def computed(calls: Sequence[RecordedCall], board: str, folder: Path) -> list[list[torch.Tensor]]:
    """What a board returns for the outs of each call."""
    model = folder / "calls.pte"
    model.write_bytes(CallsProgram(calls).file())
    inputs = [item.numpy() for call in calls for item in call.tensors]
    outcome = run(
        model, Case("calls", 0.0, [Call("forward", inputs, None)]), target=board, build_folder=folder
    )
    left = [torch.tensor(array) for array in outcome.calls[0].result.outputs]
    return [[left.pop(0) for _ in call.outs] for call in calls]


@pytest.fixture(scope="module")
def calls() -> list[RecordedCall]:
    """What the boards are to compute."""
    return record(OPERATORS, DTYPES, samples_each=SAMPLES_EACH, max_elements=MAX_ELEMENTS)


def problem(call: RecordedCall, outs: Sequence[torch.Tensor]) -> str:
    """What is wrong with the outs; empty where nothing is."""
    try:
        judge(call.row, call.function, call.given, outs, call.expected)
    except AssertionError as wrong:
        return f"{call}: {' '.join(str(wrong).split())}"
    return ""


@pytest.mark.parametrize(
    "board", [pytest.param(name, marks=getattr(pytest.mark, name.replace("-", "_"))) for name in BOARDS]
)
def test_a_board_computes_what_pytorch_does(calls: list[RecordedCall], board: str, tmp_path: Path) -> None:
    if missing := targets.get(board).requirements():
        pytest.skip(f"{board}: missing " + ", ".join(item.name for item in missing))
    results = computed(calls, board, tmp_path)
    problems = [problem(*item) for item in zip(calls, results, strict=True)]
    wrong = list(filter(None, problems))
    assert not wrong, f"{len(wrong)} of {len(calls)} calls:\n" + "\n".join(wrong[:20])


def test_every_operator_is_called(calls: list[RecordedCall]) -> None:
    assert {call.row for call in calls} == OPERATORS.keys()


def altered(result: torch.Tensor) -> torch.Tensor:
    """The same but for its largest element."""
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

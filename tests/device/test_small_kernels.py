# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of kernels/board for cores without wide vectors: shapes that end in the middle of a tile, in all
layouts, on each instruction set that has its own microkernels; and the instructions that models take,
which QEMU counts exactly."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional

from rushlight.codegen.table import load_table
from rushlight.export import export
from rushlight.export.dialect import fused
from rushlight.run.api import run
from rushlight.run.cases import Call, Case
from rushlight.sources import source_root
from support.boards import marker, need, parameters, set_vector_length
from support.calls_program import computed, problem
from support.interop.models import DsCnn, ResNet8, with_statistics
from support.opinfo.recording import Record, RecordedCall

pytestmark = pytest.mark.device

OPERATORS = load_table(source_root() / "kernels" / "ops.yaml").operators
BOARDS = ["cortex-m4", "cortex-m55", "rv32imafc", "rv64gcv"]
ROWS = [
    "aten::convolution.out",
    "aten::addmm.out",
    "aten::mm.out",
    "aten::linear.out",
    "aten::bmm.out",
    "aten::baddbmm.out",
    "aten::avg_pool2d.out",
    "aten::_adaptive_avg_pool2d.out",
    "aten::max_pool2d_with_indices.out",
    "aten::relu.out",
    "aten::_native_batch_norm_legit_no_training.out",
    "aten::mean.out",
    "aten::scaled_dot_product_attention.out",
    "rushlight::convolution_act.clamp_out",
    "rushlight::linear_act.clamp_out",
]


class Attention(torch.nn.Module):
    """Two heads of attention to themselves: half a million multiply-accumulates."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.scaled_dot_product_attention(x, x, x)


# Thousands of instructions of one inference: programs as exported for the board, channels-last on Arm.
INSTRUCTIONS = {
    ("cortex-m4", DsCnn): 4_020,
    ("cortex-m55", DsCnn): 1_410,
    ("rv32imafc", DsCnn): 4_800,
    ("rv64gcv", DsCnn): 680,
    ("cortex-m4", ResNet8): 16_600,
    ("cortex-m55", ResNet8): 6_200,
    ("rv32imafc", ResNet8): 25_300,
    ("rv64gcv", ResNet8): 3_100,
    ("cortex-m4", Attention): 1_200,
    ("cortex-m55", Attention): 510,
    ("rv32imafc", Attention): 1_430,
    ("rv64gcv", Attention): 226,
}
IMAGES = {DsCnn: (1, 1, 49, 10), ResNet8: (1, 3, 32, 32), Attention: (1, 2, 64, 32)}

# Input, weight and settings. Some have more depth or width than kernels compute at once.
CONVOLUTIONS = [
    ((1, 3, 7, 5), (5, 3, 3, 3), {"padding": 1}),
    ((2, 8, 6, 6), (7, 8, 1, 1), {}),
    ((1, 70, 3, 3), (9, 70, 1, 1), {}),
    ((1, 9, 5, 9), (4, 9, 3, 3), {"stride": 2, "padding": 1}),
    ((1, 2, 9, 11), (3, 2, 3, 5), {"dilation": (2, 1), "padding": (2, 3)}),
    ((1, 1, 21, 10), (6, 1, 10, 4), {"stride": 2, "padding": (5, 1)}),
    ((1, 2, 13, 13), (2, 2, 11, 9), {"padding": 5}),
    ((1, 6, 7, 5), (6, 1, 3, 3), {"padding": 1, "groups": 6}),
    ((1, 3, 25, 33), (3, 1, 3, 3), {"padding": 1, "groups": 3}),
    ((2, 4, 9, 8), (8, 1, 3, 3), {"padding": 1, "stride": 2, "groups": 4}),
    ((1, 3, 40, 39), (3, 1, 5, 5), {"padding": 2, "groups": 3}),
    ((1, 2, 40, 40), (2, 1, 3, 3), {"padding": 13, "dilation": 13, "groups": 2}),
    ((1, 2, 9, 9), (2, 1, 2, 2), {"groups": 2}),
    ((1, 37, 5, 4), (37, 1, 3, 3), {"padding": 1, "stride": 2, "groups": 37}),
    ((1, 16, 6, 5), (16, 1, 3, 3), {"padding": 1, "groups": 16}),
    ((1, 80, 4, 6), (80, 1, 3, 3), {"padding": 1, "groups": 80}),
    ((1, 12, 1, 5), (12, 1, 3, 3), {"padding": 2, "groups": 12}),
    ((1, 40, 9, 30), (10, 40, 3, 3), {"padding": 1}),
    ((1, 3, 11, 40), (9, 3, 5, 5), {"padding": (4, 2), "stride": (1, 2)}),
    ((1, 10, 30, 4), (8, 10, 2, 2), {"padding": 1, "dilation": (9, 2)}),
    ((1, 2, 3, 3), (2, 1, 3, 3), {"padding": 2, "groups": 2}),
    ((1, 6, 5, 5), (4, 3, 3, 3), {"groups": 2}),
    ((2, 3, 17), (4, 3, 5), {"padding": 2}),
    ((1, 2, 4, 5, 6), (3, 2, 2, 3, 3), {"padding": (0, 1, 1)}),
    ((1, 4, 3, 3, 3), (4, 1, 3, 3, 3), {"padding": 1, "groups": 4}),
    ((1, 3, 4, 4), (3, 2, 3, 3), {"transposed": True, "stride": 2, "padding": 1}),
    ((1, 4, 5), (4, 3, 4), {"transposed": True, "stride": 3}),
    ((1, 4, 5, 6), (4, 3, 1, 1), {"transposed": True, "dilation": 2, "output_padding": (0, 1)}),
    ((2, 6, 5, 7), (6, 2, 4, 4), {"transposed": True, "stride": 2, "padding": 1, "groups": 3}),
    ((1, 9, 4, 5), (9, 1, 3, 3), {"transposed": True, "stride": 2, "output_padding": 1, "groups": 9}),
    (
        (1, 3, 5, 4),
        (3, 4, 5, 2),
        {"transposed": True, "stride": (3, 4), "dilation": (2, 3), "padding": (4, 1)},
    ),
    ((1, 5, 6, 6), (5, 11, 3, 3), {"transposed": True, "padding": 2}),
    ((1, 2, 3, 4, 3), (2, 3, 3, 2, 3), {"transposed": True, "stride": (2, 1, 3), "padding": (1, 0, 1)}),
    ((1, 10, 13, 9), (10, 2, 3, 3), {"padding": 1, "stride": 2, "groups": 5}),
    ((1, 12, 7, 6), (20, 3, 3, 3), {"padding": 1, "groups": 4}),
    ((1, 24, 9, 9), (1, 24, 3, 3), {"padding": 1}),
    ((1, 40, 6, 7), (2, 40, 5, 5), {"padding": 2}),
    ((1, 6, 15, 14), (6, 1, 7, 7), {"padding": 3, "groups": 6}),
    ((1, 5, 16, 13), (5, 1, 9, 5), {"padding": (4, 2), "stride": (2, 3), "groups": 5}),
    ((1, 11, 131), (11, 1, 9), {"padding": 4, "groups": 11}),
    ((1, 3, 700), (3, 1, 31), {"padding": 15, "stride": 4, "groups": 3}),
    ((1, 1, 300), (3, 1, 140), {"stride": 7}),
    ((1, 6, 3, 4, 5), (4, 6, 3, 3, 3), {"padding": 1, "stride": (2, 1, 2)}),
    ((1, 2, 30, 70), (2, 1, 3, 3), {"groups": 2}),
    ((2, 3, 20, 45), (3, 1, 5, 3), {"padding": (2, 1), "stride": 2, "groups": 3}),
    ((1, 2, 900), (2, 1, 7), {"padding": 3, "stride": 2, "groups": 2}),
    ((1, 5, 9, 3), (5, 1, 3, 3), {"padding": 1, "stride": 2, "groups": 5}),
    ((1, 2, 4, 5, 9), (4, 1, 2, 3, 3), {"padding": 1, "groups": 2}),
    ((2, 8, 9, 14), (3, 8, 2, 2), {}),
    ((1, 4, 7, 6), (4, 3, 2, 2), {"transposed": True, "stride": 2}),
    ((1, 6, 5, 7), (6, 2, 3, 2), {"transposed": True, "stride": (3, 2), "groups": 3}),
]
# A kernel with more taps than a patch has.
LARGE = ((1, 1, 24, 25), (2, 1, 13, 12), {"padding": 6})


def _numbers(shape: tuple[int, ...]) -> torch.Tensor:
    return torch.rand(shape) * 2 - 1


def _weights(shape: tuple[int, ...]) -> torch.Tensor:
    """Weights so small that weighted sums are no larger than the inputs."""
    return _numbers(shape) / torch.Size(shape[1:]).numel() ** 0.5


def _convolutions(dtype: torch.dtype = torch.float32) -> Iterator[torch.Tensor]:
    for shape, weight_shape, given in [*CONVOLUTIONS, LARGE]:
        settings = dict(given)
        transposed = settings.pop("transposed", False)
        name = f"conv{'_transpose' if transposed else ''}{len(shape) - 2}d"
        x, weight = _numbers(shape).to(dtype), _weights(weight_shape).to(dtype)
        outs = weight_shape[1] * settings.get("groups", 1) if transposed else weight_shape[0]
        bias = _numbers((outs,)).to(dtype)
        yield getattr(functional, name)(x, weight, bias, **settings)
        if len(shape) == 4:
            last = torch.channels_last
            yield getattr(functional, name)(
                x.contiguous(memory_format=last), weight.contiguous(memory_format=last), **settings
            )


@pytest.fixture(scope="module")
def half_calls() -> list[RecordedCall]:
    """Convolutions, products and attention of float16."""
    torch.manual_seed(0)
    watch = Record([row for row in ROWS if row.startswith("aten::")], max_elements=20_000)
    dtype = torch.float16
    for made in (_convolutions(dtype), _products(dtype), _batches(dtype)):
        while True:
            with watch:
                if next(made, None) is None:
                    break
    _add_linear(watch, dtype)
    _add_attention(watch, dtype)
    return watch.calls


def _products(dtype: torch.dtype = torch.float32) -> Iterator[torch.Tensor]:
    def of(*shape: int) -> torch.Tensor:
        return _numbers(shape).to(dtype)

    for rows, depth, columns in [(1, 64, 12), (3, 7, 5), (9, 70, 13), (1, 1, 1), (5, 129, 33), (2, 200, 27)]:
        yield torch.mm(of(rows, depth), of(depth, columns))
        bias, a, b = of(columns), of(rows, depth), of(depth, columns)
        yield torch.addmm(bias, a, b, beta=2, alpha=0.5)
        yield torch.addmm(bias, a, b, beta=0)


def _batches(dtype: torch.dtype = torch.float32) -> Iterator[torch.Tensor]:
    def of(*shape: int) -> torch.Tensor:
        return _numbers(shape).to(dtype)

    for rows, depth, columns in [(5, 9, 11), (1, 32, 40), (3, 70, 4)]:
        a, b = of(3, rows, depth), of(3, depth, columns)
        yield torch.bmm(a, b)
        yield torch.bmm(a, b.transpose(1, 2).contiguous().transpose(1, 2))
        for bias in (of(columns), of(3, rows, columns)):
            yield torch.baddbmm(bias, a, b, beta=2, alpha=0.5)
            yield torch.baddbmm(bias, a, b)


def _pools() -> Iterator[torch.Tensor | tuple[torch.Tensor, ...]]:
    for layout in (torch.contiguous_format, torch.channels_last):
        x = _numbers((2, 5, 9, 7)).contiguous(memory_format=layout)
        x[0, 1, 2, 3], x[1, 0, 4] = torch.nan, -torch.inf
        for pool in (functional.avg_pool2d, functional.max_pool2d):
            yield pool(x, 2)
            yield pool(x, (3, 2), (2, 1), (1, 0))
            yield pool(x, 3, 2, 1, ceil_mode=True)
        yield functional.avg_pool2d(x, 3, 1, 1, count_include_pad=False)
        yield functional.avg_pool2d(x, 3, 1, 1, divisor_override=5)
        yield functional.max_pool2d(x, 3, 1, 1, dilation=(1, 2))
        yield functional.adaptive_avg_pool2d(x, (4, 3))


def _add_linear(watch: Record, dtype: torch.dtype = torch.float32) -> None:
    """Calls of linear, which PyTorch decomposes into matrix products before they can be recorded."""
    for shape, features in [((1, 64), 12), ((2, 7), 5), ((3, 3, 70), 13), ((129,), 9)]:
        names = {
            "input": _numbers(shape).to(dtype),
            "weight": _numbers((features, shape[-1])).to(dtype),
            "bias": _numbers((features,)).to(dtype),
        }
        expected = functional.linear(*names.values())
        watch.make_call("aten::linear.out", names, [expected], torch.ops.aten.linear.default)


def _elements() -> Iterator[torch.Tensor]:
    special = torch.tensor([0.0, -0.0, 1.0, -1.0, torch.inf, -torch.inf, torch.nan, -torch.nan])
    for count in (1, 7, 8, 33):
        yield torch.relu(special.repeat(5)[:count])
    for shape in [(2, 3, 5, 7), (1, 5, 9), (4, 2)]:
        channels = shape[1]
        x = _numbers(shape)
        statistics = _numbers((channels,)), _numbers((channels,)).abs() + 0.5
        yield functional.batch_norm(x, *statistics, _numbers((channels,)), _numbers((channels,)))
        if len(shape) == 4:
            yield functional.batch_norm(x.contiguous(memory_format=torch.channels_last), *statistics)


@pytest.fixture(scope="module")
def calls() -> list[RecordedCall]:
    """The calls that the boards compute: float32 alone, so that only small kernels are compiled."""
    torch.manual_seed(0)
    watch = Record([row for row in ROWS if row.startswith("aten::")], max_elements=20_000)
    for made in (_convolutions(), _products(), _batches(), _pools(), _elements(), _means()):
        while True:
            with watch:
                if next(made, None) is None:
                    break
    _add_linear(watch)
    _add_attention(watch)
    _add_fused(watch)
    _add_empty(watch)
    return watch.calls


def _add_empty(watch: Record) -> None:
    """A convolution without input channels, whose outputs are the bias."""
    bias = _numbers((2,))
    given: dict[str, Any] = {"input": _numbers((1, 0, 4, 3)), "weight": _numbers((2, 0, 3, 3)), "bias": bias}
    given |= {"stride": [1, 1], "padding": [1, 1], "dilation": [1, 1], "transposed": False}
    given |= {"output_padding": [0, 0], "groups": 1}
    expected = bias.reshape(1, 2, 1, 1).expand(1, 2, 4, 3).contiguous()
    watch.make_call("aten::convolution.out", given, [expected], torch.ops.aten.convolution.default)


def _add_own(
    watch: Record, row: str, given: dict[str, Any], expected: torch.Tensor, function: Callable[..., Any]
) -> None:
    """A call of an operator that PyTorch lacks; the result has the expected result's dim order."""
    schema = torch._C.parse_schema(OPERATORS[row].schema.text)
    out = torch.full_like(expected, torch.nan)
    arguments = [*(given[argument.name] for argument in schema.arguments[:-1]), out]
    watch.calls.append(RecordedCall(row, schema, function, given, arguments, [out], [expected]))


def _add_attention(watch: Record, dtype: torch.dtype = torch.float32) -> None:
    """Calls of attention, which PyTorch has no overload with `out` for: partial blocks of queries and keys,
    each kind of mask, and layouts whose rows are not contiguous."""
    row = "aten::scaled_dot_product_attention.out"
    for queries, keys, depth, width in [
        (1, 50, 12, 12),
        (19, 37, 9, 5),
        (3, 270, 4, 3),
        (33, 16, 7, 70),
        (26, 29, 67, 6),
    ]:
        query = _numbers((2, 2, queries, depth)).to(dtype)
        key, value = _numbers((2, 2, keys, depth)).to(dtype), _numbers((2, 2, keys, width)).to(dtype)
        kept = torch.rand(queries, keys) > 0.3
        kept[0] = False
        added = (_numbers((2, 1, queries, keys)) * 8).to(dtype)
        added[1, 0, 0] = -torch.inf
        strided = query.permute(2, 3, 0, 1).contiguous().permute(2, 3, 0, 1)
        for settings in (
            {},
            {"attn_mask": kept},
            {"attn_mask": added, "scale": 0.7},
            {"attn_mask": added.transpose(2, 3).contiguous().transpose(2, 3)},
            {"is_causal": True},
            {"query": strided, "value": value.transpose(2, 3).contiguous().transpose(2, 3)},
            {"key": key[:, :1].contiguous(), "value": value[:, :1].contiguous(), "enable_gqa": True},
        ):
            given: dict[str, Any] = {"query": query, "key": key, "value": value, "attn_mask": None}
            given |= {"dropout_p": 0.0, "is_causal": False, "scale": None, "enable_gqa": False} | settings
            function = torch.ops.aten.scaled_dot_product_attention.default
            expected = functional.scaled_dot_product_attention(**given)
            _add_own(watch, row, given, expected, function)


def _add_fused(watch: Record) -> None:
    """Calls of operators that only the exporter emits: without bounds, with a ReLU, or with two bounds; with
    and without a residual; in both layouts and from one to the other."""
    bounds = itertools.cycle([(0.0, torch.inf), (-torch.inf, torch.inf), (-0.25, 0.5)])
    residuals = itertools.cycle([False, False, True, False, True])
    first, last = torch.contiguous_format, torch.channels_last
    layouts = ((first, first), (last, last), (first, last))
    own = ("stride", "padding", "dilation", "output_padding")
    for (shape, weight_shape, given), (layout, out_layout) in itertools.product(CONVOLUTIONS, layouts):
        if len(shape) != 4:
            continue
        settings = {"stride": 1, "padding": 0, "dilation": 1, "output_padding": 0} | given
        pairs = {
            name: [settings[name]] * 2 if settings[name] in range(20) else settings[name] for name in own
        }
        names: dict[str, Any] = {
            "input": _numbers(shape).contiguous(memory_format=layout),
            "weight": _weights(weight_shape).contiguous(memory_format=layout),
            "bias": _numbers(
                (weight_shape[1] * given.get("groups", 1) if "transposed" in given else weight_shape[0],)
            ),
            **{name: list(pairs[name]) for name in own[:3]},
            "transposed": given.get("transposed", False),
            "output_padding": pairs["output_padding"],
            "groups": given.get("groups", 1),
        }
        plain = torch.ops.aten.convolution(*names.values()).contiguous(memory_format=out_layout)
        residual = torch.rand_like(plain) if next(residuals) else None
        low, high = next(bounds)
        names |= {"residual": residual, "low": low, "high": high}
        expected = (plain if residual is None else plain + residual).clamp(low, high)
        _add_own(watch, "rushlight::convolution_act.clamp_out", names, expected, fused.convolution_clamp)
    for low, high in itertools.islice(bounds, 3):
        given = {"input": _numbers((3, 7)), "weight": _numbers((5, 7)), "bias": _numbers((5,))}
        expected = functional.linear(*given.values()).clamp(low, high)
        given |= {"residual": None, "low": low, "high": high}
        _add_own(watch, "rushlight::linear_act.clamp_out", given, expected, fused.linear_clamp)


def _means() -> Iterator[torch.Tensor]:
    for shape, dims in [
        ((2, 5, 7, 3), (2, 3)),
        ((1, 70, 81), (1,)),
        ((2, 9, 40), (1,)),
        ((3, 0), (1,)),
        ((6,), (0,)),
    ]:
        yield torch.mean(_numbers(shape), dims)
    yield torch.mean(_numbers((1, 8, 5, 5)).contiguous(memory_format=torch.channels_last), (2, 3), True)


def test_every_row_is_called_often(calls: list[RecordedCall]) -> None:
    assert {call.row for call in calls} == set(ROWS)
    assert sum(call.row == "aten::convolution.out" for call in calls) > 1.7 * len(CONVOLUTIONS)


@pytest.mark.parametrize("board", parameters(BOARDS))
def test_a_board_computes_what_pytorch_does(
    calls: list[RecordedCall], board: str, folder_of: Callable[[str], Path]
) -> None:
    need(board)
    # Several programs: all tensors together exceed a board's memory.
    count = len(calls) // 4 + 1
    parts = [calls[first : first + count] for first in range(0, len(calls), count)]
    results = [outs for part in parts for outs in computed(part, board, folder_of(board))]
    wrong = list(filter(None, (problem(*item) for item in zip(calls, results, strict=True))))
    assert not wrong, f"{len(wrong)} of {len(calls)} calls:\n" + "\n".join(wrong[:20])


@pytest.mark.parametrize("board", parameters(BOARDS))
def test_a_board_computes_float16_as_pytorch_does(
    half_calls: list[RecordedCall], board: str, folder_of: Callable[[str], Path]
) -> None:
    test_a_board_computes_what_pytorch_does(half_calls, board, folder_of)


@pytest.mark.rv64gcv
@pytest.mark.parametrize("bits", [128, 512])
def test_vectors_may_have_any_length(
    bits: int, calls: list[RecordedCall], folder_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    need("rv64gcv")
    set_vector_length(bits, monkeypatch)
    test_a_board_computes_what_pytorch_does(calls, "rv64gcv", folder_of)


@pytest.mark.parametrize("network", IMAGES, ids=lambda network: network.__name__)
@pytest.mark.parametrize("board", [pytest.param(name, marks=marker(name)) for name in BOARDS])
def test_a_model_takes_few_instructions(board: str, network: type[torch.nn.Module], tmp_path: Path) -> None:
    need(board)
    torch.manual_seed(0)
    module = with_statistics(network()).eval()
    x = _numbers(IMAGES[network])
    expected = module(x).detach().numpy()
    export(module, (x,), target=board).save(tmp_path / "model.pte")
    case = Case("model", 1e-4, [Call("forward", [x.numpy()], [expected])])
    outcome = run(tmp_path / "model.pte", case, target=board, build_folder=tmp_path / "build")
    assert [call.comparison.reason for call in outcome.calls if call.comparison] == [""]
    most = 1000 * INSTRUCTIONS[board, network]
    assert 0.97 * most < outcome.calls[0].result.instructions <= most

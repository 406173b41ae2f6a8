# SPDX-License-Identifier: BSD-3-Clause
"""Each kind of node of the official serializer for XNNPACK, in each dtype that it takes: files run as they
are and converted, with the official outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("executorch.backends.xnnpack.partition.xnnpack_partitioner", reason="no executorch")

from executorch.backends.xnnpack.operators.node_visitor import _node_visitor_dict  # noqa: E402
from executorch.backends.xnnpack.partition.config.generic_node_configs import EluConfig  # noqa: E402
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402
from torchao.quantization import (  # noqa: E402
    Int8DynActInt4WeightQuantizer,
    Int8DynamicActivationIntxWeightConfig,
    PerAxis,
    PerGroup,
    quantize_,
)

import rushlight  # noqa: E402
from rushlight.convert.api import convert  # noqa: E402
from rushlight.convert.files import own_operators  # noqa: E402
from rushlight.errors import RushlightError  # noqa: E402
from rushlight.program import read_model  # noqa: E402
from rushlight.program.schema import XNNPACK_GRAPH  # noqa: E402
from support.dynamic_ranges import inverse_seen  # noqa: E402
from support.interop.models import Fn  # noqa: E402
from support.official_xnnpack import (  # noqa: E402
    Lowered,
    assert_same,
    check,
    lower,
    own_outputs,
    quantized,
)
from support.samples import sampled  # noqa: E402
from support.xnnpack_page import cells  # noqa: E402

pytestmark = pytest.mark.conformance

IMAGE = (2, 3, 12, 13)
PAIR = ((3, 40), (3, 40))
FLOAT = ("float32", "float16")
STATIC = (*FLOAT, "int8")
ALL = (*STATIC, "dynamic")
TOLERANCES = {"float32": 1e-5, "float16": 8e-3, "int8": 0.0, "dynamic": 1e-5}
"""Tolerances by dtype. On CPUs with AVX512-FP16, XNNPACK adds in float16: its outputs differ by up to 3.9e-3
from exact outputs. The outputs of this runtime differ by up to 5e-4."""


@dataclass(frozen=True)
class Row:
    """Networks with a kind of node, and the dtypes for which the official package lowers it."""

    make: Callable[[], nn.Module]
    shapes: tuple[tuple[int, ...], ...] = ((3, 40),)
    types: tuple[str, ...] = FLOAT
    positive: bool = False
    configs: Any = None


def fn(
    function: Callable[..., Any], *shapes: tuple[int, ...], types: tuple[str, ...] = FLOAT, **more: Any
) -> Row:
    return Row(lambda: Fn(function), shapes or ((3, 40),), types, **more)


def between(function: Callable[..., Any], outputs: int = 20) -> Row:
    """A function of quantized values: between two layers."""
    make = lambda: nn.Sequential(nn.Linear(33, 20), Fn(function), nn.Linear(outputs, 6))  # noqa: E731
    return Row(make, ((4, 33),), STATIC)


def integer_difference(a: Any, b: Any) -> Any:
    """A difference between quantizations; the official quantizer does not insert them there."""

    def rounded(x: Any, scale: float, zero_point: int) -> Any:
        known = (scale, zero_point, -128, 127, torch.int8)
        whole = torch.ops.quantized_decomposed.quantize_per_tensor.default(x, *known)
        return torch.ops.quantized_decomposed.dequantize_per_tensor.default(whole, *known)

    return rounded(rounded(a, 0.03, 5) - rounded(b, 0.05, -11), 0.04, 3)


class OfWeights(nn.Module):
    """A function of the input, and of constants."""

    def __init__(self, function: Callable[..., Any], *shapes: tuple[int, ...]) -> None:
        super().__init__()
        self.function = function
        self.weights = nn.ParameterList([nn.Parameter(torch.randn(shape)) for shape in shapes])

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs, *self.weights)


# A row for each target of the official serializer's visitors; a suffix distinguishes several rows.
ROWS: dict[str, Row] = {
    "aten.linear.default": Row(lambda: nn.Linear(33, 20), ((4, 33),), ALL),
    "aten.linear.default of 3 dims": Row(
        lambda: nn.Sequential(nn.Linear(33, 20), nn.ReLU()), ((2, 5, 33),), ALL
    ),
    "aten.linear.default without bias": Row(lambda: nn.Linear(33, 20, bias=False), ((4, 33),), ALL),
    "aten.addmm.default": Row(
        lambda: OfWeights(lambda x, b, w: torch.addmm(b, x, w), (6,), (5, 6)), ((4, 5),)
    ),
    "aten.mm.default": Row(lambda: OfWeights(torch.mm, (5, 6)), ((4, 5),)),
    "aten.convolution.default": Row(
        lambda: nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU6()), (IMAGE,), ALL
    ),
    "aten.convolution.default strided": Row(
        lambda: nn.Conv2d(3, 5, (3, 2), stride=(2, 1), dilation=(1, 2)), (IMAGE,), ALL
    ),
    "aten.convolution.default depthwise": Row(lambda: nn.Conv2d(3, 3, 3, groups=3, stride=2), (IMAGE,), ALL),
    "aten.convolution.default multiplied": Row(
        lambda: nn.Conv2d(3, 6, 3, groups=3, padding=1), (IMAGE,), ALL
    ),
    "aten.convolution.default of groups": Row(lambda: nn.Conv2d(4, 6, 3, groups=2), ((1, 4, 9, 9),), ALL),
    "aten.convolution.default transposed": Row(
        lambda: nn.ConvTranspose2d(3, 5, 3, stride=2, output_padding=1, padding=1), (IMAGE,), ALL
    ),
    "aten.convolution.default transposed, of groups": Row(
        lambda: nn.ConvTranspose2d(4, 6, 3, groups=2), ((1, 4, 9, 9),), FLOAT
    ),
    "aten.add.Tensor": fn(torch.add, *PAIR, types=STATIC),
    "aten.add.Tensor broadcast": fn(torch.add, (3, 40), (1, 40), types=STATIC),
    "aten.add.Tensor and ReLU": fn(lambda a, b: functional.relu(a + b), *PAIR, types=STATIC),
    "aten.sub.Tensor": fn(torch.sub, *PAIR, types=STATIC),
    "aten.sub.Tensor of integers": fn(integer_difference, *PAIR, types=("float32",)),
    "aten.mul.Tensor": fn(torch.mul, *PAIR, types=STATIC),
    "aten.div.Tensor": fn(torch.div, *PAIR, positive=True),
    "aten.maximum.default": fn(torch.maximum, *PAIR),
    "aten.minimum.default": fn(torch.minimum, *PAIR),
    "aten._softmax.default": Row(lambda: nn.Softmax(-1)),
    "aten.sigmoid.default": Row(nn.Sigmoid),
    "aten.tanh.default": Row(nn.Tanh),
    "aten.gelu.default": Row(nn.GELU, types=("float32",)),
    "aten.hardswish.default": Row(nn.Hardswish),
    "aten.leaky_relu.default": Row(lambda: nn.LeakyReLU(0.2)),
    "aten.elu.default": Row(lambda: nn.ELU(0.75), configs=[EluConfig]),
    "aten.prelu.default": Row(lambda: nn.PReLU(3), (IMAGE,)),
    "aten.exp.default": fn(torch.exp),
    "aten.log.default": fn(torch.log, positive=True),
    "aten.sin.default": fn(torch.sin),
    "aten.cos.default": fn(torch.cos),
    "aten.abs.default": fn(torch.abs),
    "aten.neg.default": fn(torch.neg),
    "aten.floor.default": fn(torch.floor),
    "aten.ceil.default": fn(torch.ceil),
    "aten.sqrt.default": fn(torch.sqrt, positive=True),
    "aten.rsqrt.default": fn(torch.rsqrt, positive=True),
    "aten.pow.Tensor_Scalar": fn(lambda x: x**2),
    "aten.clamp.default": fn(lambda x: torch.clamp(x, -0.5, 0.7)),
    "aten.hardtanh.default": Row(nn.Hardtanh),
    "aten.relu.default": Row(nn.ReLU),
    "aten.max_pool2d.default": Row(lambda: nn.MaxPool2d(3, 2, 1), (IMAGE,)),
    "aten.max_pool2d.default between layers": Row(
        lambda: nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3)),
        (IMAGE,),
        ALL,
    ),
    "aten.avg_pool2d.default": Row(lambda: nn.AvgPool2d(3, 2), (IMAGE,)),
    "aten.avg_pool2d.default padded": Row(lambda: nn.AvgPool2d(3, 2, 1, count_include_pad=False), (IMAGE,)),
    "aten.mean.dim": fn(lambda x: x.mean((2, 3), keepdim=True), IMAGE),
    "aten.mean.dim between layers": Row(
        lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)),
        (IMAGE,),
        STATIC,
    ),
    "aten.upsample_bilinear2d.vec": fn(
        lambda x: functional.interpolate(x, scale_factor=2, mode="bilinear"), IMAGE
    ),
    "aten.upsample_bilinear2d.vec of corners": fn(
        lambda x: functional.interpolate(x, size=(20, 31), mode="bilinear", align_corners=True), IMAGE
    ),
    "aten.constant_pad_nd.default": fn(lambda x: functional.pad(x, (1, 2, 3, 0), value=0.5), IMAGE),
    "aten.permute_copy.default": fn(lambda x: x.permute(2, 0, 1), (3, 4, 5)),
    "aten.permute_copy.default between layers": between(lambda x: x.permute(1, 0), 4),
    "aten.view_copy.default": fn(lambda x: x.reshape(4, 15) + 1.0, (3, 4, 5)),
    "aten.view_copy.default between layers": between(lambda x: x.reshape(8, 10), 10),
    "aten.unsqueeze_copy.default": Row(lambda: nn.Conv1d(3, 5, 3, padding=1), ((2, 3, 20),)),
    "aten.squeeze_copy.dim": Row(lambda: nn.Conv1d(3, 6, 3, groups=3), ((2, 3, 20),)),
    "aten.cat.default": fn(lambda a, b: torch.cat([a, b], 1), IMAGE, IMAGE, types=STATIC),
    "aten.cat.default of 3": fn(lambda a, b: torch.cat([a, b, a], 1), IMAGE, IMAGE, types=STATIC),
    "aten.cat.default of 4": fn(lambda a, b: torch.cat([a, b, a, b], 2), IMAGE, IMAGE),
    "aten.cat.default of 5": fn(lambda a, b: torch.cat([a, b, a, b, a], 1), IMAGE, IMAGE),
    "aten.slice_copy.Tensor": fn(lambda x: x[:, 1:3, 2:], (3, 4, 5)),
    "aten.slice_copy.Tensor between layers": between(lambda x: x[:, 3:11], 8),
    "aten.bmm.default": fn(torch.bmm, (3, 4, 5), (3, 5, 6)),
    "aten.amax.default": fn(lambda x: torch.max(x, 2, keepdim=True)[0], IMAGE, types=("float32",)),
    "aten._to_copy.default": fn(lambda x: (x + 1).to(memory_format=torch.channels_last) * 2, IMAGE),
}
QUANTIZED = {
    "getitem": "aten.linear.default-dynamic",
    "quantized_decomposed.choose_qparams.tensor": "aten.linear.default-dynamic",
    "quantized_decomposed.quantize_per_tensor.tensor": "aten.linear.default-dynamic",
    "quantized_decomposed.dequantize_per_tensor.tensor": "aten.linear.default-dynamic",
    "quantized_decomposed.quantize_per_tensor.default": "aten.linear.default-int8",
    "quantized_decomposed.dequantize_per_tensor.default": "aten.linear.default-int8",
    "quantized_decomposed.dequantize_per_channel.default": "aten.linear.default-int8",
    "torchao.choose_qparams_affine.default": "weights of 4 bits",
    "torchao.quantize_affine.default": "weights of 4 bits",
    "torchao.dequantize_affine.default": "weights of 4 bits",
}
"""Targets that enclose others, and the tests that cover them."""
_OF_WEIGHTS = "weights are quantized before the exporter sees them"
_EARLIER = "earlier versions of torchao made it"
UNREACHED = {
    "aten.clone.default": "passes before the serializer remove it",
    "aten.max.dim": "the partitioner leaves it; of its values alone it is amax",
    "aten.t_copy.default": "passes before the serializer fold it into linear layers",
    "sym_size.int": "a number, which is no node",
    "quantized_decomposed.choose_qparams_per_token_asymmetric.default": _EARLIER,
    "quantized_decomposed.quantize_per_token.default": _EARLIER,
    "quantized_decomposed.dequantize_per_token.default": _EARLIER,
    "quantized_decomposed.dequantize_per_channel_group.default": _EARLIER,
    "quantized_decomposed.quantize_per_channel.default": _OF_WEIGHTS,
    "quantized_decomposed.quantize_per_channel_group.default": _OF_WEIGHTS,
}
"""Targets with a visitor in the serializer that no model of this version reaches, with the reason."""
NOT_MADE = {"ScaledDotProductAttention", "ArgMaxPooling2d", "Copy"}
"""Kinds of nodes that no program of this version has: an attention is lowered in parts; for a maximum with
its indices and for clone see UNREACHED."""
CASES = [(name, kind) for name, row in ROWS.items() for kind in row.types]


def inputs_of(row: Row, kind: str, seed: int) -> tuple[Any, ...]:
    generator = torch.Generator().manual_seed(seed)
    made = [torch.randn(shape, generator=generator) * (1 + 0.3 * seed) for shape in row.shapes]
    made = [x.abs() + 0.1 for x in made] if row.positive else made
    return tuple(x.half() if kind == "float16" else x for x in made)


def test_no_kind_of_node_is_missing() -> None:
    rows = {name.partition(" ")[0] for name in ROWS}
    assert rows.isdisjoint(QUANTIZED) and (rows | set(QUANTIZED)).isdisjoint(UNREACHED)
    assert rows | set(QUANTIZED) | set(UNREACHED) == set(_node_visitor_dict)


def program(name: str, kind: str, *, per_channel: bool = True) -> tuple[Lowered, list[tuple[Any, ...]]]:
    """The official file of a case, and calls of it."""
    torch.manual_seed(0)
    row = ROWS[name]
    module = row.make().eval()
    calls = [inputs_of(row, kind, seed) for seed in range(4)]
    if kind == "float16":
        module = module.half()
    if kind in ("int8", "dynamic"):
        module = quantized(module, calls[0], per_channel=per_channel, dynamic=kind == "dynamic")
    partitioners = None if row.configs is None else [XnnpackPartitioner(configs=row.configs)]
    return lower(module, calls[0], partitioners=partitioners), calls


def programs() -> Iterator[tuple[Lowered, list[tuple[Any, ...]]]]:
    """All official files, for the table of the documentation."""
    for name, kind in CASES:
        yield program(name, kind)


def test_the_page_has_each_kind_of_node() -> None:
    named = XNNPACK_GRAPH.unions["XNodeUnion"]
    kinds = {each.partition(":")[0].removeprefix("XNN") for each in named}
    assert {node for node, _ in cells()} == kinds - NOT_MADE


# Continuous integration takes a row of each target in float32, and a fifth of all cases. Most rows have two
# or four types: a fifth has some of each.
FIRST = {name.partition(" ")[0]: name for name in reversed(ROWS)}


@pytest.mark.parametrize(
    ("name", "kind"),
    sampled(CASES, 5, name="-".join, always=lambda case: case[1] == "float32" and case[0] in FIRST.values()),
)
def test_a_kind_of_node_gives_what_the_official_runtime_gives(name: str, kind: str) -> None:
    for per_channel in (True, False) if kind == "int8" else (True,):
        lowered, calls = program(name, kind, per_channel=per_channel)
        assert lowered.nodes <= cells(), "run python tests/conformance/xnnpack_nodes.py --write"
        assert name.partition(" ")[0] in lowered.visited, sorted(lowered.visited)
        around = {target for target, case in QUANTIZED.items() if case == f"{name}-{kind}"}
        assert not per_channel or around <= lowered.visited
        done = check(lowered, calls, TOLERANCES[kind])
        assert sum(method.delegates for method in done.methods) >= 1


class Residual(nn.Module):
    """A sum of pixels, before a convolution that quantizes it."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 3, 3, padding=1), nn.Conv2d(3, 5, 3)

    def forward(self, x: Any) -> Any:
        y = self.first(x)
        return self.second(torch.sigmoid(y) * functional.relu(x) + y)


def test_rows_are_multiplied_by_the_inverse_that_their_scale_comes_from() -> None:
    """A value near a half is another integer if XNNPACK's inverse scale is computed from the scale."""
    layer = nn.Linear(4, 4, bias=False).eval()
    with torch.no_grad():
        layer.weight.copy_(torch.eye(4))
    rows = (torch.from_numpy(inverse_seen()),)
    check(lower(quantized(layer, rows, dynamic=True), rows), [rows], 1e-6)


AS_THEY_RUN: dict[str, Callable[[], nn.Module]] = {
    "pointwise": lambda: nn.Sequential(nn.ReLU(), nn.Conv2d(3, 8, 1), nn.ReLU6()),
    "pointwise, strided": lambda: nn.Conv2d(3, 8, 1, stride=2),
    "pointwise, padded": lambda: nn.Conv2d(3, 8, 1, padding=1),
    "behind ReLU": lambda: nn.Sequential(nn.ReLU(), nn.Conv2d(3, 8, 3, padding=1)),
    "behind a sum": Residual,
}


@pytest.mark.parametrize("name", AS_THEY_RUN)
def test_convolutions_whose_inputs_are_quantized_as_they_run(name: str) -> None:
    """XNNPACK computes a range for each pixel of a pointwise convolution, otherwise for each image. Values
    between nodes may have NCHW dimensions in the file, although they are stored as NHWC."""
    torch.manual_seed(0)
    calls = [(torch.randn(IMAGE) * (1 + seed),) for seed in range(2)]
    lowered = lower(quantized(AS_THEY_RUN[name]().eval(), calls[0], dynamic=True), calls[0])
    assert ("Convert", "dynamic int8") in lowered.nodes
    check(lowered, calls, 1e-6)


class Pair(nn.Module):
    """A pointwise convolution and another one with the same input."""

    def __init__(self) -> None:
        super().__init__()
        self.pointwise, self.wide = nn.Conv2d(3, 8, 1), nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, x: Any) -> Any:
        return self.pointwise(x), self.wide(x)


def test_a_pointwise_convolution_beside_another_one() -> None:
    """The official runtime is not a reference: it lets the other convolution read the ranges of pixels."""
    torch.manual_seed(0)
    module = Pair().eval()
    calls = [(torch.randn(IMAGE),)]
    lowered = lower(quantized(module, calls[0], dynamic=True), calls[0])
    with torch.no_grad():
        expected = [list(module(*calls[0]))]
    assert_same(own_outputs(lowered.data, calls), expected, 0.02)


def in_groups(module: nn.Module) -> nn.Module:
    return _few_bits(module, PerGroup(32))


def by_channel(module: nn.Module) -> nn.Module:
    return _few_bits(module, PerAxis(0))


def _few_bits(module: nn.Module, granularity: Any) -> nn.Module:
    config = Int8DynamicActivationIntxWeightConfig(
        weight_dtype=torch.int4, weight_granularity=granularity, intx_packing_format="unpacked_to_int8"
    )
    quantize_(module, config)
    return module


def as_language_models(module: nn.Module) -> nn.Module:
    """Quantized as the official export of language models does ("8da4w")."""
    return Int8DynActInt4WeightQuantizer(groupsize=32).quantize(module)


@pytest.mark.parametrize("quantize", [in_groups, by_channel, as_language_models], ids=lambda f: f.__name__)
def test_linear_layers_with_weights_of_4_bits(quantize: Callable[[nn.Module], nn.Module]) -> None:
    torch.manual_seed(0)
    module = nn.Sequential(
        nn.Linear(64, 96, bias=quantize is not as_language_models), nn.ReLU(), nn.Linear(96, 10)
    )
    calls = [(torch.randn(5, 64) * (1 + seed),) for seed in range(4)]
    lowered = lower(quantize(module.eval()), calls[0])
    around = {target for target, case in QUANTIZED.items() if case == "weights of 4 bits"}
    assert {"aten.linear.default", *around} <= lowered.visited and lowered.left == []
    check(lowered, calls, 1e-5)


class Cancelled(nn.Module):
    """A sum of large values that nearly cancel."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.other = nn.Conv2d(3, 8, 1), nn.Conv2d(3, 8, 1)
        self.other.load_state_dict({name: -value for name, value in self.layer.state_dict().items()})

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) + self.other(x)


def test_what_is_not_supported_is_refused_and_stays_a_delegate() -> None:
    """XNNPACK does not support sums with such scales, either."""
    inputs = (torch.randn(1, 3, 9, 9) * 100,)
    data = lower(quantized(Cancelled().eval(), inputs), inputs).data
    with pytest.raises(RushlightError, match="NotSupported"):
        rushlight.load(data).load_method("forward")
    (method,) = convert(read_model(memoryview(data)), own_operators()).methods
    assert method.delegates == 0 and len(method.kept_delegates) == 1


class Clamped(nn.Module):
    """Clamps after layers and after a sum; the clamp has the layer's scale or another one."""

    def __init__(self, reads_twice: bool) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, groups=8)
        self.last, self.reads_twice = nn.Linear(8, 5), reads_twice

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = functional.relu6(self.first(x))
        z = self.second(y)
        clamped = functional.relu6(z)
        shared = functional.hardtanh(clamped + z, -0.5, 4.0) if self.reads_twice else clamped
        return functional.hardtanh(self.last(shared.mean((2, 3))), -0.25, 0.5)


@pytest.mark.parametrize("reads_twice", [False, True], ids=["alone", "read twice"])
def test_a_clamp_of_integers_is_part_of_the_layer_before_it(reads_twice: bool) -> None:
    torch.manual_seed(3)
    x = torch.randn(2, 3, 9, 9) * 3
    lowered = lower(quantized(Clamped(reads_twice).eval(), (x,)), (x,))
    done = check(lowered, [(x,), (torch.randn(2, 3, 9, 9),)], 0)
    (plan,) = read_model(memoryview(done.buffer)).plans
    names = [plan.operators[i.operator] for i in plan.instructions]
    assert ("rushlight::quantized_lookup.out" in names) == reads_twice
    clamped = [i.arguments[0] for i in plan.instructions if plan.operators[i.operator] == "aten::clamp.out"]
    assert all(plan.values[index].data.dtype == "float32" for index in clamped)

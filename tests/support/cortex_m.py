# SPDX-License-Identifier: BSD-3-Clause
"""Random legal calls of the official Cortex-M backend's operators. Imports them, which defines
`torch.ops.cortex_m`."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import executorch.backends.cortex_m.passes  # noqa: F401  # defines torch.ops.cortex_m
import torch
from executorch.backends.cortex_m.passes.passes_utils import quantize_multiplier_aot

LEAST, MOST = -128, 127
SCRATCH = torch.zeros(0, dtype=torch.uint8)


class Draw:
    """Random values for one call."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.generator = torch.Generator().manual_seed(seed)

    def integer(self, low: int, high: int) -> int:
        """A random integer from low to high, inclusive."""
        return self.random.randint(low, high)

    def int8(self, *shape: int) -> torch.Tensor:
        """Values of the whole range of int8."""
        return torch.randint(LEAST, MOST + 1, shape, generator=self.generator).to(torch.int8)

    def int32(self, count: int, most: int) -> torch.Tensor:
        """Values from -most to most."""
        return torch.randint(-most, most + 1, (count,), generator=self.generator).to(torch.int32)

    def zero_point(self) -> int:
        """A random zero point, often an end of its range."""
        return self.random.choice([LEAST, MOST, 0, self.integer(LEAST, MOST)])

    def scale(self, low: float, high: float) -> float:
        """A scale between these, uniform in its logarithm."""
        return math.exp(self.random.uniform(math.log(low), math.log(high)))

    def activation(self) -> tuple[int, int]:
        """Activation limits: the whole range, or a part of it, which may lie beside the zero point."""
        if self.random.random() < 0.5:
            return LEAST, MOST
        low = self.integer(LEAST, MOST)
        return low, self.integer(low, MOST)

    def scales(self, count: int, low: float, high: float) -> tuple[torch.Tensor, torch.Tensor]:
        """Multipliers and shifts of int32; sometimes a scale that rounds every sum to 0."""
        drawn = [0.0 if self.random.random() < 0.03 else self.scale(low, high) for _ in range(count)]
        pairs = [quantize_multiplier_aot(scale) for scale in drawn]
        if count > 2 and self.random.random() < 0.1:
            pairs[0] = (1 << 30, -40)
        multipliers, shifts = zip(*pairs, strict=True)
        return torch.tensor(multipliers, dtype=torch.int32), torch.tensor(shifts, dtype=torch.int32)

    def image(self, *shape: int) -> torch.Tensor:
        """An int8 image [N, C, H, W], mostly channels-last."""
        order = torch.channels_last if self.random.random() < 0.7 else torch.contiguous_format
        return self.int8(*shape).contiguous(memory_format=order)


def _spatial(draw: Draw) -> dict[str, list[int]]:
    return {
        "kernel": [draw.integer(1, 4), draw.integer(1, 4)],
        "stride": [draw.integer(1, 3), draw.integer(1, 3)],
        "padding": [draw.integer(0, 2), draw.integer(0, 2)],
        "dilation": [draw.integer(1, 2), draw.integer(1, 2)],
    }


def _image_sizes(draw: Draw, sizes: dict[str, list[int]]) -> list[int]:
    """Random image sizes, at least the kernel's extent."""
    reach = [d * (k - 1) + 1 for d, k in zip(sizes["dilation"], sizes["kernel"], strict=True)]
    return [max(r - 2 * p, 1) + draw.integer(0, 7) for r, p in zip(reach, sizes["padding"], strict=True)]


def _end(draw: Draw, outputs: int, depth: int) -> list[Any]:
    """The last arguments, from the input offset to the scratch."""
    multipliers, shifts = draw.scales(outputs, 1e-4 / depth, 0.05 / math.sqrt(depth))
    return [-draw.zero_point(), draw.zero_point(), multipliers, shifts, *draw.activation(), SCRATCH]


def _bias(draw: Draw, outputs: int) -> torch.Tensor | None:
    return None if draw.random.random() < 0.2 else draw.int32(outputs, 20000)


def conv2d(draw: Draw) -> list[Any]:
    """Arguments of a convolution, grouped or not."""
    sizes = _spatial(draw)
    groups, per_group = draw.integer(1, 3), draw.integer(1, 20)
    outputs = groups * draw.integer(1, 20)
    image = draw.image(draw.integer(1, 2), groups * per_group, *_image_sizes(draw, sizes))
    weight = draw.int8(outputs, *sizes["kernel"], per_group)
    spatial = [sizes["stride"], sizes["padding"], sizes["dilation"]]
    return [image, weight, _bias(draw, outputs), *spatial, *_end(draw, outputs, weight[0].numel())]


def depthwise_conv2d(draw: Draw) -> list[Any]:
    """Arguments of a depthwise convolution, with depth multipliers."""
    sizes = _spatial(draw)
    channels, times = draw.integer(1, 40), draw.random.choice([1, 1, 2, 3])
    outputs = channels * times
    image = draw.image(1, channels, *_image_sizes(draw, sizes))
    weight = draw.int8(1, *sizes["kernel"], outputs)
    spatial = [sizes["stride"], sizes["padding"], sizes["dilation"]]
    end = _end(draw, outputs, math.prod(sizes["kernel"]))
    return [image, weight, _bias(draw, outputs), *spatial, times, *end]


def transpose_conv2d(draw: Draw) -> list[Any]:
    """Arguments with output padding; sums stay in the range in which float32, the reference's accumulator, is
    exact."""
    sizes = _spatial(draw)
    inputs, outputs = draw.integer(1, 8), draw.integer(1, 20)
    extra = [draw.integer(0, max(s, d) - 1) for s, d in zip(sizes["stride"], sizes["dilation"], strict=True)]
    image = draw.image(draw.integer(1, 2), inputs, draw.integer(5, 8), draw.integer(5, 8))
    weight = draw.int8(outputs, *sizes["kernel"], inputs)
    spatial = [sizes["stride"], sizes["padding"], extra, sizes["dilation"]]
    end = _end(draw, outputs, weight[0].numel())
    return [image, weight, _bias(draw, outputs), *spatial, *end, SCRATCH]


def avg_pool2d(draw: Draw) -> list[Any]:
    """Windows at borders, and scales that give halves."""
    kernel = [draw.integer(1, 5), draw.integer(1, 5)]
    padding = [draw.integer(0, k // 2) for k in kernel]
    stride = [draw.integer(1, 3), draw.integer(1, 3)]
    sizes = [k + draw.integer(0, 6) for k in kernel]
    image = draw.image(draw.integer(1, 2), draw.integer(1, 20), *sizes)
    multiplier, shift = quantize_multiplier_aot(draw.scale(1e-4, 10))
    ceil = draw.random.random() < 0.3
    return [image, kernel, stride, padding, ceil, draw.zero_point(), multiplier, shift, SCRATCH]


def max_pool2d(draw: Draw) -> list[Any]:
    """Arguments of one scale."""
    image, kernel, stride, padding, *_ = avg_pool2d(draw)
    zero_point = draw.zero_point()
    return [image, kernel, stride, padding, [1, 1], False, zero_point, zero_point, *draw.activation()]


def _pair(draw: Draw) -> tuple[torch.Tensor, torch.Tensor]:
    """Two tensors of the same shape, or one of them with channels alone."""
    if draw.random.random() < 0.3:
        channels = draw.integer(1, 20)
        image = draw.int8(1, channels, draw.integer(2, 5), draw.integer(2, 5))
        image = image.contiguous(memory_format=torch.channels_last)
        factor = draw.int8(1, channels, 1, 1)
        return (image, factor) if draw.random.random() < 0.5 else (factor, image)
    shape = [draw.integer(1, 9) for _ in range(draw.integer(1, 4))]
    return draw.int8(*shape), draw.int8(*shape)


def add(draw: Draw) -> list[Any]:
    """Scales as the exporter computes them, also for differences."""
    one, other = _pair(draw)
    scales = [draw.scale(0.001, 1), draw.scale(0.001, 1)]
    largest = 2 * max(scales)
    (a, a_shift), (b, b_shift) = (quantize_multiplier_aot(scale / largest) for scale in scales)
    output = quantize_multiplier_aot(largest / (draw.scale(0.01, 4) * max(scales) * (1 << 20)))
    sign = draw.random.choice([1, 1, -1])
    first = [one, draw.zero_point(), a, a_shift]
    return [
        *first,
        other,
        draw.zero_point(),
        sign * b,
        b_shift,
        draw.zero_point(),
        *output,
        *draw.activation(),
    ]


def mul(draw: Draw) -> list[Any]:
    """Scales below 1 and above; the zero points of hardswish lie outside of int8."""
    one, other = _pair(draw)
    output = quantize_multiplier_aot(draw.scale(1e-5, 2))
    shifted = draw.zero_point() - draw.random.choice([0, 0, draw.integer(1, 3000)])
    return [one, draw.zero_point(), other, shifted, draw.zero_point(), *output]


def div(draw: Draw) -> list[Any]:
    """int8 and int16, with divisors of 0."""
    shape = [draw.integer(1, 9), draw.integer(1, 30)]
    dtype = draw.random.choice([torch.int8, torch.int16])
    one, other = draw.int8(*shape).to(dtype), draw.int8(*shape).to(dtype)
    points = [draw.zero_point() for _ in range(3)]
    return [one, points[0], other, points[1], points[2], draw.scale(0.01, 1000)]


def linear(draw: Draw) -> list[Any]:
    """Arguments with a bias, with a kernel sum, or with neither; with zero points of the weights."""
    features, depth = draw.integer(1, 70), draw.integer(1, 200)
    given = draw.int8(*[draw.integer(1, 5) for _ in range(draw.integer(0, 2))], depth)
    if given.dim() == 1:
        given = given[None]
    weight = draw.int8(features, depth)
    offset, filter_offset = -draw.zero_point(), draw.random.choice([0, 0, 0, -draw.zero_point()])
    bias = kernel_sum = None
    if draw.random.random() < 0.5:
        kernel_sum = ((weight.int() + filter_offset).sum(1, dtype=torch.int32) * offset)[None]
        kernel_sum += draw.int32(features, 20000)
    else:
        bias = _bias(draw, features)
    multiplier, shift = quantize_multiplier_aot(draw.scale(1e-3 / depth, 0.1 / math.sqrt(depth)))
    low, high = draw.activation()
    end = [offset, filter_offset, draw.zero_point(), [multiplier], [shift], high, low]
    return [given, weight, bias, kernel_sum, *end]


def batch_matmul(draw: Draw) -> list[Any]:
    """Sums stay in the range in which float32, the reference's accumulator, is exact."""
    batch, rows, columns, depth = (draw.integer(1, most) for most in (3, 9, 40, 200))
    one, other = draw.int8(batch, rows, depth), draw.int8(batch, columns, depth)
    output = quantize_multiplier_aot(draw.scale(1e-3 / depth, 0.1 / math.sqrt(depth)))
    return [one, -draw.zero_point(), other, -draw.zero_point(), draw.zero_point(), *output, SCRATCH]


def pad(draw: Draw) -> list[Any]:
    """Tensors of 1 to 4 dimensions; for a channels-last image the padding in the order of memory."""
    rank = draw.integer(1, 4)
    shape = [draw.integer(1, 5) for _ in range(rank)]
    given = draw.image(*shape) if rank == 4 else draw.int8(*shape)
    amounts = [[0] * (4 - rank) + [draw.integer(0, 3) for _ in range(rank)] for _ in range(2)]
    return [given, *amounts, draw.zero_point()]


def transpose(draw: Draw) -> list[Any]:
    """Any permutation of up to five dimensions."""
    rank = draw.integer(1, 5)
    dims = list(range(rank))
    draw.random.shuffle(dims)
    return [draw.int8(*[draw.integer(1, 5) for _ in dims]), dims]


def activation(draw: Draw) -> list[Any]:
    """Arguments with a random table."""
    return [draw.int8(draw.integer(1, 9), draw.integer(1, 90)), draw.int8(256)]


def extremum(draw: Draw) -> list[Any]:
    """int8 or int32 operands, sometimes one scalar."""
    shape = [draw.integer(1, 9), draw.integer(1, 30)]
    dtype = draw.random.choice([torch.int8, torch.int32])
    other = draw.int8(*shape) if draw.random.random() < 0.7 else draw.int8(1)
    return [draw.int8(*shape).to(dtype), other.to(dtype)]


def softmax(draw: Draw) -> list[Any]:
    """Arguments for a softmax along any dimension."""
    shape = [draw.integer(1, 9), draw.integer(1, 40)]
    scale = draw.scale(1e-3, 0.5)
    multiplier, shift = quantize_multiplier_aot(min(scale * (1 << 26), float((1 << 31) - 1)))
    return [draw.int8(*shape), draw.integer(-2, 1), draw.zero_point(), LEAST, multiplier, shift, -100]


def quantize(draw: Draw) -> list[Any]:
    """int8 and int16."""
    dtype = draw.random.choice([torch.int8, torch.int16])
    info = torch.iinfo(dtype)
    given = torch.randn(draw.integer(1, 9), draw.integer(1, 30), generator=draw.generator)
    return [given, draw.scale(1e-4, 1), draw.zero_point(), info.min, info.max, dtype]


def dequantize(draw: Draw) -> list[Any]:
    """int8 and int16."""
    dtype = draw.random.choice([torch.int8, torch.int16])
    info = torch.iinfo(dtype)
    given = draw.int8(draw.integer(1, 9), draw.integer(1, 30)).to(dtype)
    return [given, draw.scale(1e-4, 1), draw.zero_point(), info.min, info.max, dtype]


def by_nhwc(drawn: Callable[[Draw], list[Any]]) -> Callable[[Draw], list[Any]]:
    """The same call for an image with the sizes [N, H, W, C]."""

    def moved(draw: Draw) -> list[Any]:
        image, *rest = drawn(draw)
        return [image.permute(0, 2, 3, 1).contiguous(), *rest]

    return moved


IMAGES: dict[str, Callable[[Draw], list[Any]]] = {
    "quantized_conv2d": conv2d,
    "quantized_depthwise_conv2d": depthwise_conv2d,
    "quantized_transpose_conv2d": transpose_conv2d,
    "quantized_avg_pool2d": avg_pool2d,
    "quantized_max_pool2d": max_pool2d,
}

CALLS: dict[str, Callable[[Draw], list[Any]]] = {
    **IMAGES,
    **{f"{name}_nhwc": by_nhwc(drawn) for name, drawn in IMAGES.items()},
    "quantized_add": add,
    "quantized_mul": mul,
    "quantized_div": div,
    "quantized_linear": linear,
    "quantized_batch_matmul": batch_matmul,
    "quantized_activation": activation,
    "minimum": extremum,
    "maximum": extremum,
    "softmax": softmax,
    "transpose": transpose,
    "pad": pad,
    "quantize_per_tensor": quantize,
    "dequantize_per_tensor": dequantize,
}
"""Functions that draw the arguments of each operator, without `out`."""


def spread(weight: torch.Tensor, dilation: Sequence[int]) -> torch.Tensor:
    """The kernel with zeros between its taps: without dilation it equals `weight` with dilation."""
    rows, columns = ((size - 1) * d + 1 for size, d in zip(weight.shape[1:3], dilation, strict=True))
    wide = torch.zeros(weight.shape[0], rows, columns, weight.shape[3], dtype=weight.dtype)
    wide[:, :: dilation[0], :: dilation[1]] = weight
    return wide


def reference(name: str, arguments: Sequence[Any]) -> torch.Tensor:
    """The result of the official Python reference. PyTorch has no dilated int32 convolution, in which the
    reference accumulates: it gets the kernel with zeros between its taps."""
    if "conv2d" in name and "transpose" not in name:
        arguments = [*arguments]
        arguments[1], arguments[5] = spread(arguments[1], arguments[5]), [1, 1]
    result: torch.Tensor = getattr(torch.ops.cortex_m, name)(*arguments)
    return result

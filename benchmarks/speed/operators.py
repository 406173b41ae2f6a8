# SPDX-License-Identifier: BSD-3-Clause
"""Single operators as modules, in float32: name -> module and its inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

Made = tuple[nn.Module, tuple[Tensor, ...]]
Build = Callable[[], Made]
SIDE = 512  # side of most operators' square input, 1 MiB


class Function(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Tensor:
        return self.function(*inputs)


def _of(function: Callable[..., Tensor], *shapes: tuple[int, ...]) -> Build:
    return lambda: (Function(function), tuple(torch.randn(shape) for shape in shapes))


def _unary(function: Callable[[Tensor], Tensor]) -> Build:
    return _of(function, (SIDE, SIDE))


def _layer(layer: Callable[[], nn.Module], *shape: int) -> Build:
    return lambda: (layer(), (torch.randn(shape),))


def _convolution(before: int, after: int, kernel: int, size: int, **settings: Any) -> Build:
    padding = settings.pop("padding", kernel // 2)
    batch = settings.pop("batch", 1)
    return _layer(
        lambda: nn.Conv2d(before, after, kernel, padding=padding, **settings), batch, before, size, size
    )


def _embedding() -> Made:
    return nn.Embedding(10000, SIDE), (torch.randint(0, 10000, (1, SIDE)),)


def _indexed(function: Callable[..., Tensor], *shape: int) -> Build:
    return lambda: (Function(function), (torch.randn(SIDE, SIDE), torch.randint(0, SIDE, shape)))


COMPUTE: dict[str, Build] = {
    **{f"mm {n}": _of(torch.mm, (n, n), (n, n)) for n in (64, 128, 256, 512, 1024)},
    "linear 1x512x512": _layer(lambda: nn.Linear(512, 512), 1, 512),
    "linear 1x1024x4096": _layer(lambda: nn.Linear(1024, 4096), 1, 1024),
    "linear 128x384x1536": _layer(lambda: nn.Linear(384, 1536), 128, 384),
    "bmm 12x128x32x128": _of(torch.bmm, (12, 128, 32), (12, 32, 128)),
    "conv 3x3 64-64 56": _convolution(64, 64, 3, 56),
    "conv 1x1 64-64 56": _convolution(64, 64, 1, 56),
    "conv 1x1 24-144 56": _convolution(24, 144, 1, 56),
    "conv 3x3 128-128 28": _convolution(128, 128, 3, 28),
    "conv 3x3 s2 64-128 56": _convolution(64, 128, 3, 56, stride=2),
    "conv 5x5 32-32 56": _convolution(32, 32, 5, 56),
    "conv 3x3 s2 3-32 224": _convolution(3, 32, 3, 224, stride=2),
    "conv 7x7 s2 3-64 224": _convolution(3, 64, 7, 224, stride=2),
    "conv 16x16 s16 3-192 224": _convolution(3, 192, 16, 224, stride=16, padding=0),
    "conv 3x3 dilated 64-64 28": _convolution(64, 64, 3, 28, dilation=2, padding=2),
    "conv 3x3 groups 4 64-64 56": _convolution(64, 64, 3, 56, groups=4),
    "conv 4x4 s4 3-96 224": _convolution(3, 96, 4, 224, stride=4, padding=0),
    "conv 1x1 s2 64-128 56": _convolution(64, 128, 1, 56, stride=2, padding=0),
    "conv 3x3 16-64 27": _convolution(16, 64, 3, 27),
    "conv 3x3 37-53 19": _convolution(37, 53, 3, 19),
    "conv 3x3 512-512 7": _convolution(512, 512, 3, 7),
    "conv 3x3 s2 32-64 28, batch 4": _convolution(32, 64, 3, 28, stride=2, batch=4),
    "conv 1x7 128-128 17": _layer(lambda: nn.Conv2d(128, 128, (1, 7), padding=(0, 3)), 1, 128, 17, 17),
    "conv 3x3 groups 32 128-128 56": _convolution(128, 128, 3, 56, groups=32),
    "conv 3x3 groups 24 192-192 28": _convolution(192, 192, 3, 28, groups=24),
    "conv 3x3 groups 32 512-512 14": _convolution(512, 512, 3, 14, groups=32),
    "conv 3x3 s2 groups 8 448-448 28": _convolution(448, 448, 3, 28, groups=8, stride=2),
    "depthwise 3x3 960 7": _convolution(960, 960, 3, 7, groups=960),
    "depthwise 5x5 s2 240 28": _convolution(240, 240, 5, 28, groups=240, stride=2),
    "depthwise 7x7 96 56": _convolution(96, 96, 7, 56, groups=96),
    "depthwise 7x7 384 14": _convolution(384, 384, 7, 14, groups=384),
    "depthwise 3x3 64 112": _convolution(64, 64, 3, 112, groups=64),
    "depthwise 3x3 s2 96 112": _convolution(96, 96, 3, 112, groups=96, stride=2),
    "depthwise 5x5 120 28": _convolution(120, 120, 5, 28, groups=120),
    "conv transposed 2x2 s2 64-32 28": _layer(lambda: nn.ConvTranspose2d(64, 32, 2, stride=2), 1, 64, 28, 28),
    "conv transposed 4x4 s2 64-32 28": _layer(
        lambda: nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1), 1, 64, 28, 28
    ),
    "conv1d 9 64-64 400": _layer(lambda: nn.Conv1d(64, 64, 9, padding=4), 1, 64, 400),
    "sdpa 12x128x32": _of(functional.scaled_dot_product_attention, *[(1, 12, 128, 32)] * 3),
    "sdpa 8x512x64": _of(functional.scaled_dot_product_attention, *[(1, 8, 512, 64)] * 3),
}  # fmt: skip

MEMORY: dict[str, Build] = {
    "add": _of(torch.add, (SIDE, SIDE), (SIDE, SIDE)),
    "add broadcast row": _of(torch.add, (SIDE, SIDE), (SIDE,)),
    "add broadcast column": _of(torch.add, (SIDE, SIDE), (SIDE, 1)),
    "mul": _of(torch.mul, (SIDE, SIDE), (SIDE, SIDE)),
    "div": _of(torch.div, (SIDE, SIDE), (SIDE, SIDE)),
    "where": _of(lambda x, y: torch.where(x > 0, x, y), (SIDE, SIDE), (SIDE, SIDE)),
    "relu": _unary(torch.relu),
    "exp": _unary(torch.exp),
    "tanh": _unary(torch.tanh),
    "sigmoid": _unary(torch.sigmoid),
    "gelu": _unary(functional.gelu),
    "silu": _unary(functional.silu),
    "hardswish": _unary(functional.hardswish),
    "rsqrt": _unary(lambda x: torch.rsqrt(x.abs() + 1)),
    "softmax": _unary(lambda x: x.softmax(-1)),
    "softmax columns": _unary(lambda x: x.softmax(0)),
    "layer_norm": _layer(lambda: nn.LayerNorm(384), 512, 384),
    "batch_norm": _layer(lambda: nn.BatchNorm2d(64), 1, 64, 64, 64),
    "group_norm": _layer(lambda: nn.GroupNorm(8, 64), 1, 64, 64, 64),
    "mean": _unary(lambda x: x.mean(-1)),
    "mean columns": _unary(lambda x: x.mean(0)),
    "mean spatial": _of(lambda x: x.mean((2, 3)), (1, 1280, 14, 14)),
    "sum all": _unary(torch.sum),
    "amax": _unary(lambda x: x.amax(-1)),
    "argmax": _unary(lambda x: x.argmax(-1)),
    "max_pool 3x3 s2": _layer(lambda: nn.MaxPool2d(3, 2, 1), 1, 64, 112, 112),
    "max_pool 2x2 s2": _layer(lambda: nn.MaxPool2d(2), 1, 64, 56, 56),
    "max_pool 3x3 s1 192 14": _layer(lambda: nn.MaxPool2d(3, 1, 1), 1, 192, 14, 14),
    "max_pool 5x5 s1 128 20": _layer(lambda: nn.MaxPool2d(5, 1, 2), 1, 128, 20, 20),
    "adaptive_max_pool 7": _layer(lambda: nn.AdaptiveMaxPool2d(7), 1, 256, 28, 28),
    "avg_pool 3x3 s1 192 14": _layer(lambda: nn.AvgPool2d(3, 1, 1), 1, 192, 14, 14),
    "avg_pool 2x2": _layer(lambda: nn.AvgPool2d(2), 1, 64, 112, 112),
    "cat": _of(lambda x, y: torch.cat([x, y], 1), (SIDE, SIDE), (SIDE, SIDE)),
    "transpose": _unary(lambda x: x.t().contiguous()),
    "permute heads": _of(lambda x: x.transpose(1, 2).contiguous(), (1, 128, 12, 32)),
    "slice": _unary(lambda x: x[:, 64:448].contiguous()),
    "embedding": _embedding,
    "gather": _indexed(lambda x, i: x.gather(1, i), SIDE, SIDE),
    "index columns": _indexed(lambda x, i: x[:, i], SIDE),
    "index elements": _indexed(lambda x, i: x[i, i], SIDE, SIDE),
    "flip": _unary(lambda x: x.flip(-1)),
    "pad": _of(lambda x: functional.pad(x, (1, 1, 1, 1)), (1, 32, 90, 90)),
    "masked_fill": _of(lambda x, y: x.masked_fill(y > 0, 0), (SIDE, SIDE), (SIDE, SIDE)),
    "upsample nearest 2x": _layer(lambda: nn.Upsample(scale_factor=2), 1, 32, 56, 56),
    "upsample bicubic 2x": _layer(lambda: nn.Upsample(scale_factor=2, mode="bicubic"), 1, 32, 56, 56),
    "upsample trilinear 2x": _layer(lambda: nn.Upsample(scale_factor=2, mode="trilinear"), 1, 8, 14, 28, 28),
    "upsample bilinear 2x": _layer(lambda: nn.Upsample(scale_factor=2, mode="bilinear"), 1, 32, 56, 56),
}

OPERATORS: dict[str, Build] = {**COMPUTE, **MEMORY}

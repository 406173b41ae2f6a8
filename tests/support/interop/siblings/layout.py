# SPDX-License-Identifier: BSD-3-Clause
"""Dim orders: channels-last through every kind of layer, and changes between layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from support.interop import models
from support.interop.models import Fn
from support.interop.official import Case, one

LAST = torch.channels_last


def _last(module: nn.Module, *shape: int) -> Case:
    models.with_statistics(module)
    image = torch.randn(shape or (2, 4, 8, 8)).to(memory_format=LAST)
    return one(module.to(memory_format=LAST), (image,))


def elementwise(x: Tensor) -> Any:
    row = torch.arange(8.0)
    return x + 1, x * x, x.relu(), x.sigmoid(), x > 0, x.clamp(-1, 1), x + row, x.neg().abs(), x.pow(2)


def shapes(x: Tensor) -> Any:
    pad = functional.pad(x, (1, 1, 2, 0))
    return torch.cat([x, x], 1), x[:, 1:3], x[:, :, ::2], pad, x.permute(0, 2, 3, 1), x.flatten(1), x.flip(2)


def reductions(x: Tensor) -> Any:
    return x.mean((2, 3)), x.sum(1), x.amax((2, 3), keepdim=True), x.softmax(1), x.mean(1, keepdim=True)


def enlarged(x: Tensor) -> Any:
    nearest = functional.interpolate(x, scale_factor=2)
    return nearest, functional.interpolate(x, size=(5, 11), mode="bilinear"), nearest.contiguous()


def pooled(x: Tensor) -> Any:
    return (
        functional.max_pool2d(x, 2),
        functional.avg_pool2d(x, 3, 2, 1),
        functional.adaptive_avg_pool2d(x, 1),
    )


def there_and_back(x: Tensor) -> Any:
    last = x.to(memory_format=LAST)
    return last * 2, (last + 1).contiguous(), last.clone(memory_format=torch.preserve_format)


class Converts(nn.Module):
    """A contiguous input, channels-last convolutions inside, a contiguous output."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1).to(memory_format=LAST)
        self.second = nn.Conv2d(8, 8, 3, groups=8, stride=2)

    def forward(self, image: Tensor) -> Tensor:
        x = self.second(self.first(image.to(memory_format=LAST)).relu())
        return x.to(memory_format=torch.contiguous_format)


def _beside() -> Case:
    """A channels-last and a contiguous tensor together."""
    function = Fn(lambda a, b: (a + b, b * a, torch.cat([a, b], 1)))
    return one(function, (torch.randn(1, 3, 4, 5).to(memory_format=LAST), torch.randn(1, 3, 4, 5)))


CASES: dict[str, Callable[[], Case]] = {
    "conv": lambda: _last(nn.Conv2d(4, 6, 3, stride=2, padding=1)),
    "conv_grouped": lambda: _last(nn.Conv2d(4, 8, 3, groups=2, dilation=2)),
    "conv_depthwise": lambda: _last(nn.Conv2d(4, 4, 3, groups=4)),
    "conv_transposed": lambda: _last(nn.ConvTranspose2d(4, 6, 3, stride=2)),
    "resnet": lambda: _last(models.ResNet8(), 1, 3, 32, 32),
    "dscnn": lambda: _last(models.DsCnn(), 1, 1, 49, 10),
    "group_norm": lambda: _last(nn.GroupNorm(2, 4)),
    "elementwise": lambda: _last(Fn(elementwise)),
    "shapes": lambda: _last(Fn(shapes)),
    "reductions": lambda: _last(Fn(reductions)),
    "enlarged": lambda: _last(Fn(enlarged)),
    "pooled": lambda: _last(Fn(pooled)),
    "there_and_back": lambda: one(Fn(there_and_back), (torch.randn(2, 3, 4, 5),)),
    "converts": lambda: one(Converts(), (torch.randn(1, 3, 9, 9),)),
    "beside_contiguous": _beside,
}

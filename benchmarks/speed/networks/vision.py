# SPDX-License-Identifier: BSD-3-Clause
"""Image classification: MobileNet V1 to V3 and ResNet-18, with random weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

Layer = Callable[[], nn.Module]


def normed(
    before: int, after: int, kernel: int = 1, act: Layer | None = None, **settings: Any
) -> nn.Sequential:
    """A convolution that keeps the size (divided by its stride), its batch norm and activation."""
    layers: list[nn.Module] = [
        nn.Conv2d(before, after, kernel, padding=kernel // 2, bias=False, **settings),
        nn.BatchNorm2d(after),
    ]
    return nn.Sequential(*layers, *([act()] if act else []))


def _head(channels: int, *layers: nn.Module) -> list[nn.Module]:
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), *(layers or [nn.Linear(channels, 1000)])]


# After MobileNet V1's first convolution: channels at full width, stride.
_V1 = (
    (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1), (512, 1), (512, 1),
    (512, 1), (1024, 2), (1024, 1),
)  # fmt: skip


def mobilenet_v1(width: float, classes: int) -> nn.Sequential:
    """Thirteen pairs of a depthwise and a pointwise convolution."""
    channels = int(32 * width)
    layers = [normed(3, channels, 3, nn.ReLU, stride=2)]
    for full, stride in _V1:
        after = int(full * width)
        layers.append(normed(channels, channels, 3, nn.ReLU, stride=stride, groups=channels))
        layers.append(normed(channels, after, 1, nn.ReLU))
        channels = after
    return nn.Sequential(*layers, *_head(0, nn.Linear(channels, classes), nn.Softmax(-1)))


class SqueezeExcitation(nn.Module):
    """Scales each channel by a function (two layers) of the means of all channels."""

    def __init__(self, channels: int, inside: int) -> None:
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.layers = nn.Sequential(
            nn.Conv2d(channels, inside, 1), nn.ReLU(), nn.Conv2d(inside, channels, 1), nn.Hardsigmoid()
        )

    def forward(self, x: Tensor) -> Tensor:
        return x * self.layers(self.pool(x))


class InvertedResidual(nn.Module):
    """A pointwise expansion, a depthwise convolution, optional channel scales, and a pointwise projection."""

    def __init__(
        self,
        before: int,
        inside: int,
        after: int,
        act: Layer,
        kernel: int = 3,
        stride: int = 1,
        squeeze: int = 0,
    ) -> None:
        super().__init__()
        widen = [normed(before, inside, 1, act)] if inside != before else []
        scales = [SqueezeExcitation(inside, squeeze)] if squeeze else []
        each = normed(inside, inside, kernel, act, stride=stride, groups=inside)
        self.layers = nn.Sequential(*widen, each, *scales, normed(inside, after))
        self.is_residual = stride == 1 and before == after

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x) if self.is_residual else self.layers(x)


# Expansion factor, channels, blocks, stride of the first block.
_V2 = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def mobilenet_v2() -> nn.Sequential:
    """3.5 million parameters."""
    layers: list[nn.Module] = [normed(3, 32, 3, nn.ReLU6, stride=2)]
    channels = 32
    for factor, after, count, stride in _V2:
        for index in range(count):
            layers.append(
                InvertedResidual(
                    channels, channels * factor, after, nn.ReLU6, stride=stride if index == 0 else 1
                )
            )
            channels = after
    return nn.Sequential(*layers, normed(channels, 1280, 1, nn.ReLU6), *_head(1280))


# Kernel, expanded channels, channels, squeeze channels or 0, Hardswish instead of ReLU, stride.
_V3_SMALL = (
    (3, 16, 16, 8, False, 2), (3, 72, 24, 0, False, 2), (3, 88, 24, 0, False, 1),
    (5, 96, 40, 24, True, 2), (5, 240, 40, 64, True, 1), (5, 240, 40, 64, True, 1),
    (5, 120, 48, 32, True, 1), (5, 144, 48, 40, True, 1), (5, 288, 96, 72, True, 2),
    (5, 576, 96, 144, True, 1), (5, 576, 96, 144, True, 1),
)  # fmt: skip
_V3_LARGE = (
    (3, 16, 16, 0, False, 1), (3, 64, 24, 0, False, 2), (3, 72, 24, 0, False, 1),
    (5, 72, 40, 24, False, 2), (5, 120, 40, 32, False, 1), (5, 120, 40, 32, False, 1),
    (3, 240, 80, 0, True, 2), (3, 200, 80, 0, True, 1), (3, 184, 80, 0, True, 1),
    (3, 184, 80, 0, True, 1), (3, 480, 112, 120, True, 1), (3, 672, 112, 168, True, 1),
    (5, 672, 160, 168, True, 2), (5, 960, 160, 240, True, 1), (5, 960, 160, 240, True, 1),
)  # fmt: skip


def _mobilenet_v3(blocks: tuple[tuple[int, int, int, int, bool, int], ...], last: int) -> nn.Sequential:
    layers: list[nn.Module] = [normed(3, 16, 3, nn.Hardswish, stride=2)]
    channels = 16
    for kernel, inside, after, squeeze, hard, stride in blocks:
        act = nn.Hardswish if hard else nn.ReLU
        layers.append(InvertedResidual(channels, inside, after, act, kernel, stride, squeeze))
        channels = after
    inside = channels * 6
    classifier = [nn.Linear(inside, last), nn.Hardswish(), nn.Linear(last, 1000)]
    return nn.Sequential(*layers, normed(channels, inside, 1, nn.Hardswish), *_head(inside, *classifier))


def mobilenet_v3_small() -> nn.Sequential:
    """2.5 million parameters."""
    return _mobilenet_v3(_V3_SMALL, 1024)


def mobilenet_v3_large() -> nn.Sequential:
    """5.5 million parameters."""
    return _mobilenet_v3(_V3_LARGE, 1280)


class BasicBlock(nn.Module):
    """Two convolutions with a shortcut, which is a strided 1x1 convolution if the shape changes."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(normed(before, after, 3, nn.ReLU, stride=stride), normed(after, after, 3))
        self.shortcut = nn.Identity() if stride == 1 else normed(before, after, 1, stride=stride)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.layers(x) + self.shortcut(x))


def resnet18() -> nn.Sequential:
    """11.7 million parameters."""
    layers: list[nn.Module] = [normed(3, 64, 7, nn.ReLU, stride=2), nn.MaxPool2d(3, 2, 1)]
    before = 64
    for after, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [BasicBlock(before, after, stride), BasicBlock(after, after, 1)]
        before = after
    return nn.Sequential(*layers, *_head(512))

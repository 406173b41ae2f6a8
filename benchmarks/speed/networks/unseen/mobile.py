# SPDX-License-Identifier: BSD-3-Clause
"""Image classifiers for phones, with random weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from networks.unseen.classic import Scale
from networks.vision import InvertedResidual, normed


def _classifier(channels: int, classes: int = 100) -> list[nn.Module]:
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes)]


# Expansion factor, channels, blocks, stride of the first block, kernel.
_MNASNET = ((3, 24, 3, 2, 3), (3, 40, 3, 2, 5), (6, 80, 3, 2, 5), (6, 96, 2, 1, 3), (6, 192, 4, 2, 5))
_EFFICIENTNET = (
    (1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5),
    (6, 192, 4, 2, 5), (6, 320, 1, 1, 3),
)  # fmt: skip


def mnasnet() -> nn.Sequential:
    """MnasNet-B1 (Tan et al., 2019) without its last stage. An image of 160 x 160."""
    layers: list[nn.Module] = [
        normed(3, 32, 3, nn.ReLU, stride=2), normed(32, 32, 3, nn.ReLU, groups=32), normed(32, 16)
    ]  # fmt: skip
    before = 16
    for factor, after, count, stride, kernel in _MNASNET:
        for index in range(count):
            layers.append(
                InvertedResidual(before, before * factor, after, nn.ReLU, kernel, 1 if index else stride)
            )
            before = after
    return nn.Sequential(*layers, normed(before, 640, 1, nn.ReLU), *_classifier(640))


class _Swish(nn.Module):
    """An inverted residual with swish activations and channel scales."""

    def __init__(self, before: int, factor: int, after: int, kernel: int, stride: int) -> None:
        super().__init__()
        inside = before * factor
        widen = [normed(before, inside, 1, nn.SiLU)] if factor > 1 else []
        self.layers = nn.Sequential(
            *widen,
            normed(inside, inside, kernel, nn.SiLU, stride=stride, groups=inside),
            Scale(inside, max(before // 4, 1), nn.SiLU),
            normed(inside, after),
        )
        self.is_residual = stride == 1 and before == after

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x) if self.is_residual else self.layers(x)


def efficientnet_b0() -> nn.Sequential:
    """Tan and Le, 2019. An image of 160 x 160."""
    layers: list[nn.Module] = [normed(3, 32, 3, nn.SiLU, stride=2)]
    before = 32
    for factor, after, count, stride, kernel in _EFFICIENTNET:
        for index in range(count):
            layers.append(_Swish(before, factor, after, kernel, 1 if index else stride))
            before = after
    return nn.Sequential(*layers, normed(before, 1280, 1, nn.SiLU), *_classifier(1280))


def _shuffled(x: Tensor, groups: int) -> Tensor:
    batch, channels, height, width = x.shape
    x = x.view(batch, groups, channels // groups, height, width)
    return x.transpose(1, 2).reshape(batch, channels, height, width)


class _Shuffle(nn.Module):
    """Half of the channels pass, the other half is convolved; then the halves are interleaved."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        half, self.stride = after // 2, stride
        inner = half if stride == 1 else before
        self.left = nn.Sequential(
            normed(before, before, 3, stride=stride, groups=before), normed(before, half, 1, nn.ReLU)
        )
        if stride == 1:
            self.left = nn.Sequential()
        self.right = nn.Sequential(
            normed(inner, half, 1, nn.ReLU),
            normed(half, half, 3, stride=stride, groups=half),
            normed(half, half, 1, nn.ReLU),
        )

    def forward(self, x: Tensor) -> Tensor:
        if self.stride == 1:
            left, right = x.chunk(2, 1)
        else:
            left = right = x
        return _shuffled(torch.cat([self.left(left), self.right(right)], 1), 2)


def shufflenet_v2() -> nn.Sequential:
    """ShuffleNet V2 1.0 (Ma et al., 2018). An image of 224 x 224."""
    layers: list[nn.Module] = [normed(3, 24, 3, nn.ReLU, stride=2), nn.MaxPool2d(3, 2, 1)]
    before = 24
    for after, count in ((116, 4), (232, 8), (464, 4)):
        for index in range(count):
            layers.append(_Shuffle(before, after, 1 if index else 2))
            before = after
    return nn.Sequential(*layers, normed(before, 1024, 1, nn.ReLU), *_classifier(1024))


class _Ghost(nn.Module):
    """Half of the channels from a convolution, the other half from a depthwise convolution of those."""

    def __init__(self, before: int, after: int, act: bool) -> None:
        super().__init__()
        half = after // 2
        layer = nn.ReLU if act else None
        self.primary, self.cheap = normed(before, half, 1, layer), normed(half, half, 3, layer, groups=half)

    def forward(self, x: Tensor) -> Tensor:
        x = self.primary(x)
        return torch.cat([x, self.cheap(x)], 1)


class _GhostBottleneck(nn.Module):
    def __init__(self, before: int, inside: int, after: int, kernel: int, stride: int, scaled: bool) -> None:
        super().__init__()
        layers: list[nn.Module] = [_Ghost(before, inside, True)]
        if stride > 1:
            layers.append(normed(inside, inside, kernel, stride=stride, groups=inside))
        if scaled:
            layers.append(Scale(inside, inside // 4))
        self.layers = nn.Sequential(*layers, _Ghost(inside, after, False))
        same = stride == 1 and before == after
        narrow = [normed(before, before, kernel, stride=stride, groups=before), normed(before, after)]
        self.shortcut = nn.Identity() if same else nn.Sequential(*narrow)

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x) + self.shortcut(x)


def ghostnet() -> nn.Sequential:
    """GhostNet 1.0 (Han et al., 2020), without the repeated blocks of its last stages. An image of 160 x
    160."""
    blocks = (
        (16, 16, 3, 1, False), (48, 24, 3, 2, False), (72, 24, 3, 1, False), (72, 40, 5, 2, True),
        (120, 40, 5, 1, True), (240, 80, 3, 2, False), (184, 80, 3, 1, False), (480, 112, 3, 1, True),
        (672, 160, 5, 2, True), (960, 160, 5, 1, True),
    )  # fmt: skip
    layers: list[nn.Module] = [normed(3, 16, 3, nn.ReLU, stride=2)]
    before = 16
    for inside, after, kernel, stride, scaled in blocks:
        layers.append(_GhostBottleneck(before, inside, after, kernel, stride, scaled))
        before = after
    return nn.Sequential(*layers, normed(before, 960, 1, nn.ReLU), *_classifier(960))


class _Reparameterized(nn.Module):
    """Parallel 3x3, 1x1 and identity branches, each with a norm (RepVGG: Ding et al., 2021)."""

    def __init__(self, before: int, after: int, stride: int, groups: int = 1) -> None:
        super().__init__()
        self.three = normed(before, after, 3, stride=stride, groups=groups)
        self.one = normed(before, after, 1, stride=stride, groups=groups)
        self.identity = nn.BatchNorm2d(before) if stride == 1 and before == after else None

    def forward(self, x: Tensor) -> Tensor:
        summed = self.three(x) + self.one(x)
        return functional.relu(summed if self.identity is None else summed + self.identity(x))


def repvgg() -> nn.Sequential:
    """RepVGG-A0's stages in the form for training: its branches are not merged. An image of 128 x 128."""
    layers: list[nn.Module] = []
    before = 3
    for after, count in ((48, 1), (48, 2), (96, 3), (192, 4)):
        for index in range(count):
            layers.append(_Reparameterized(before, after, 1 if index else 2))
            before = after
    return nn.Sequential(*layers, *_classifier(before))


def mobileone() -> nn.Sequential:
    """MobileOne-S0's stages in the form for training (Vasu et al., 2023): depthwise and pointwise blocks of
    parallel branches. An image of 160 x 160."""
    layers: list[nn.Module] = [_Reparameterized(3, 48, 2)]
    before = 48
    for after, count in ((48, 2), (128, 4), (256, 3)):
        for index in range(count):
            layers.append(_Reparameterized(before, before, 1 if index else 2, groups=before))
            branches = [normed(before, after) for _ in range(2)]
            layers += [_Sum(*branches), nn.ReLU()]
            before = after
    return nn.Sequential(*layers, *_classifier(before))


class _Sum(nn.Module):
    def __init__(self, *branches: nn.Module) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x: Tensor) -> Tensor:
        first, *others = (branch(x) for branch in self.branches)
        for other in others:
            first = first + other
        return first

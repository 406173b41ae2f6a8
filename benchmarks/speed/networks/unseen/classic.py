# SPDX-License-Identifier: BSD-3-Clause
"""Image classifiers of 2012 to 2020, with random weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from networks.vision import normed


def _plain(before: int, after: int, kernel: int | tuple[int, int], **settings: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(before, after, kernel, **settings), nn.ReLU())


def _classifier(channels: int, classes: int = 100) -> list[nn.Module]:
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes)]


def alexnet() -> nn.Sequential:
    """Krizhevsky, 2014, with linear layers a quarter as wide. An image of 224 x 224."""
    return nn.Sequential(
        _plain(3, 64, 11, stride=4, padding=2), nn.MaxPool2d(3, 2),
        _plain(64, 192, 5, padding=2), nn.MaxPool2d(3, 2),
        _plain(192, 384, 3, padding=1), _plain(384, 256, 3, padding=1), _plain(256, 256, 3, padding=1),
        nn.MaxPool2d(3, 2), nn.AdaptiveAvgPool2d(6), nn.Flatten(), nn.Dropout(),
        nn.Linear(256 * 36, 1024), nn.ReLU(), nn.Dropout(), nn.Linear(1024, 1024), nn.ReLU(),
        nn.Linear(1024, 100),
    )  # fmt: skip


def vgg11() -> nn.Sequential:
    """Simonyan and Zisserman, 2015, with half the channels. An image of 128 x 128."""
    layers: list[nn.Module] = []
    before = 3
    for widths in ((32,), (64,), (128, 128), (256, 256), (256, 256)):
        for after in widths:
            layers.append(_plain(before, after, 3, padding=1))
            before = after
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(256 * 16, 512), nn.ReLU(), nn.Linear(512, 100))


class _Fire(nn.Module):
    def __init__(self, before: int, squeezed: int, expanded: int) -> None:
        super().__init__()
        self.squeeze = _plain(before, squeezed, 1)
        self.one, self.three = _plain(squeezed, expanded, 1), _plain(squeezed, expanded, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.squeeze(x)
        return torch.cat([self.one(x), self.three(x)], 1)


def squeezenet() -> nn.Sequential:
    """SqueezeNet 1.1 (Iandola et al., 2016). An image of 224 x 224."""
    return nn.Sequential(
        _plain(3, 64, 3, stride=2), nn.MaxPool2d(3, 2, ceil_mode=True),
        _Fire(64, 16, 64), _Fire(128, 16, 64), nn.MaxPool2d(3, 2, ceil_mode=True),
        _Fire(128, 32, 128), _Fire(256, 32, 128), nn.MaxPool2d(3, 2, ceil_mode=True),
        _Fire(256, 48, 192), _Fire(384, 48, 192), _Fire(384, 64, 256), _Fire(512, 64, 256),
        _plain(512, 100, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
    )  # fmt: skip


class _Branches(nn.Module):
    """Several layers over one input, side by side."""

    def __init__(self, *branches: nn.Module) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([branch(x) for branch in self.branches], 1)


def _unit(
    before: int, after: int, kernel: tuple[int, int], stride: int = 1, padded: bool = True
) -> nn.Module:
    padding = (kernel[0] // 2, kernel[1] // 2) if padded else 0
    convolution = nn.Conv2d(before, after, kernel, stride, padding, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(after, eps=0.001), nn.ReLU())


def _chain(before: int, *layers: tuple[int, int, int]) -> nn.Sequential:
    made = []
    for after, height, width in layers:
        made.append(_unit(before, after, (height, width)))
        before = after
    return nn.Sequential(*made)


def _pooled(before: int, after: int) -> nn.Sequential:
    return nn.Sequential(nn.AvgPool2d(3, 1, 1), _unit(before, after, (1, 1)))


def inception_v3() -> nn.Sequential:
    """One or two blocks of each kind of Inception-v3 (Szegedy et al., 2016), with half the channels: 5x5,
    double 3x3, and 7x7 as 1x7 and 7x1. An image of 147 x 147."""

    def first(before: int, pooled: int) -> _Branches:
        return _Branches(
            _chain(before, (32, 1, 1)), _chain(before, (24, 1, 1), (32, 5, 5)),
            _chain(before, (32, 1, 1), (48, 3, 3), (48, 3, 3)), _pooled(before, pooled),
        )  # fmt: skip

    def second(before: int, inner: int) -> _Branches:
        return _Branches(
            _chain(before, (96, 1, 1)),
            _chain(before, (inner, 1, 1), (inner, 1, 7), (96, 7, 1)),
            _chain(before, (inner, 1, 1), (inner, 7, 1), (inner, 1, 7), (inner, 7, 1), (96, 1, 7)),
            _pooled(before, 96),
        )

    def third(before: int) -> _Branches:
        split = [_Branches(_unit(192, 192, (1, 3)), _unit(192, 192, (3, 1))) for _ in range(2)]
        return _Branches(
            _chain(before, (160, 1, 1)),
            nn.Sequential(_chain(before, (192, 1, 1)), split[0]),
            nn.Sequential(_chain(before, (224, 1, 1), (192, 3, 3)), split[1]),
            _pooled(before, 96),
        )

    return nn.Sequential(
        _unit(3, 16, (3, 3), 2, padded=False), _unit(16, 16, (3, 3), padded=False), _unit(16, 32, (3, 3)),
        nn.MaxPool2d(3, 2), _unit(32, 40, (1, 1)), _unit(40, 96, (3, 3), padded=False), nn.MaxPool2d(3, 2),
        first(96, 16), first(128, 32),
        _Branches(_unit(144, 192, (3, 3), 2, padded=False), nn.MaxPool2d(3, 2)),
        second(336, 64), second(384, 80), third(384), *_classifier(160 + 384 + 384 + 96),
    )  # fmt: skip


class _Dense(nn.Module):
    """A layer of a dense block: norms and activations before convolutions, the result beside the input."""

    def __init__(self, before: int, growth: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.BatchNorm2d(before), nn.ReLU(), nn.Conv2d(before, 4 * growth, 1, bias=False),
            nn.BatchNorm2d(4 * growth), nn.ReLU(), nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.layers(x)], 1)


def densenet(blocks: tuple[int, ...] = (4, 6, 8, 6), growth: int = 24) -> nn.Sequential:
    """Huang et al., 2017, with fewer layers. An image of 160 x 160."""
    channels = 48
    layers: list[nn.Module] = [normed(3, channels, 7, nn.ReLU, stride=2), nn.MaxPool2d(3, 2, 1)]
    for index, count in enumerate(blocks):
        for _ in range(count):
            layers.append(_Dense(channels, growth))
            channels += growth
        layers += [nn.BatchNorm2d(channels), nn.ReLU()]
        if index + 1 < len(blocks):
            layers += [nn.Conv2d(channels, channels // 2, 1, bias=False), nn.AvgPool2d(2)]
            channels //= 2
    return nn.Sequential(*layers, *_classifier(channels))


class Scale(nn.Module):
    """Squeeze-and-excitation (Hu et al., 2018) with a sigmoid."""

    def __init__(self, channels: int, inside: int, act: type[nn.Module] = nn.ReLU) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(channels, inside, 1), act(), nn.Conv2d(inside, channels, 1), nn.Sigmoid()
        )

    def forward(self, x: Tensor) -> Tensor:
        return x * self.layers(functional.adaptive_avg_pool2d(x, 1))


class _Bottleneck(nn.Module):
    """1x1, grouped 3x3, optional channel scales, 1x1, and a shortcut."""

    def __init__(
        self, before: int, inside: int, after: int, group: int, stride: int, scaled: bool = False
    ) -> None:
        super().__init__()
        scale = [Scale(inside, before // 4)] if scaled else []
        self.layers = nn.Sequential(
            normed(before, inside, 1, nn.ReLU),
            normed(inside, inside, 3, nn.ReLU, stride=stride, groups=inside // group),
            *scale,
            normed(inside, after),
        )
        same = stride == 1 and before == after
        self.shortcut = nn.Identity() if same else normed(before, after, 1, stride=stride)

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.layers(x) + self.shortcut(x))


def resnext() -> nn.Sequential:
    """Xie et al., 2017: 32 groups of 4 channels and more, two blocks a stage. An image of 160 x 160."""
    layers: list[nn.Module] = [normed(3, 64, 7, nn.ReLU, stride=2), nn.MaxPool2d(3, 2, 1)]
    before = 64
    for inside, count, stride in ((128, 2, 1), (256, 2, 2), (512, 2, 2)):
        for index in range(count):
            layers.append(_Bottleneck(before, inside, 2 * inside, inside // 32, stride if index == 0 else 1))
            before = 2 * inside
    return nn.Sequential(*layers, *_classifier(before))


def regnet(stages: tuple[tuple[int, int], ...], group: int, scaled: bool) -> nn.Sequential:
    """Radosavovic et al., 2020: RegNet-X, or -Y with channel scales. An image of 224 x 224."""
    layers: list[nn.Module] = [normed(3, 32, 3, nn.ReLU, stride=2)]
    before = 32
    for width, count in stages:
        for index in range(count):
            layers.append(_Bottleneck(before, width, width, group, 2 if index == 0 else 1, scaled))
            before = width
    return nn.Sequential(*layers, *_classifier(before))


def regnet_x() -> nn.Sequential:
    """RegNet-X 400MF's widths, fewer blocks in its last stages."""
    return regnet(((32, 1), (64, 2), (160, 4), (400, 3)), 16, False)


def regnet_y() -> nn.Sequential:
    """RegNet-Y 400MF's widths, fewer blocks in its last stages."""
    return regnet(((48, 1), (104, 3), (208, 3), (440, 2)), 8, True)

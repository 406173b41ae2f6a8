# SPDX-License-Identifier: BSD-3-Clause
"""Networks with a result for each pixel or each box: segmentation, detection, super-resolution; random
weights."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from networks.vision import InvertedResidual, normed


def _double(before: int, after: int) -> nn.Sequential:
    return nn.Sequential(normed(before, after, 3, nn.ReLU), normed(after, after, 3, nn.ReLU))


class UNet(nn.Module):
    """Ronneberger et al., 2015, with three levels. Grows images by transposed convolutions, or bilinearly
    with 1x1 convolutions. An image of 96 x 96."""

    def __init__(self, bilinear: bool, widths: tuple[int, ...] = (16, 32, 64, 128)) -> None:
        super().__init__()
        self.down = nn.ModuleList(_double(a, b) for a, b in zip((3, *widths), widths, strict=False))
        self.grow, self.up = nn.ModuleList(), nn.ModuleList()
        for small, large in zip(widths[-2::-1], widths[:0:-1], strict=True):
            double = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False)
            learned = nn.ConvTranspose2d(large, small, 2, 2)
            self.grow.append(nn.Sequential(double, nn.Conv2d(large, small, 1)) if bilinear else learned)
            self.up.append(_double(2 * small, small))
        self.last = nn.Conv2d(widths[0], 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        kept = []
        for index, layer in enumerate(self.down):
            x = layer(x if index == 0 else functional.max_pool2d(x, 2))
            kept.append(x)
        kept.pop()
        for grow, layer in zip(self.grow, self.up, strict=True):
            x = layer(torch.cat([kept.pop(), grow(x)], 1))
        return self.last(x)


class DeepLab(nn.Module):
    """Chen et al., 2017: dilated convolutions and global context side by side, on a small backbone. An image
    of 128 x 128."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone = nn.Sequential(
            normed(3, 16, 3, nn.ReLU, stride=2),
            InvertedResidual(16, 64, 24, nn.ReLU, stride=2),
            InvertedResidual(24, 96, 32, nn.ReLU, stride=2),
            normed(32, 96, 1, nn.ReLU),
        )
        rates = (2, 4, 6)
        self.branches = nn.ModuleList(
            [
                normed(96, 48, 1, nn.ReLU),
                *(
                    nn.Sequential(
                        nn.Conv2d(96, 48, 3, padding=rate, dilation=rate, bias=False),
                        nn.BatchNorm2d(48),
                        nn.ReLU(),
                    )
                    for rate in rates
                ),
            ]
        )
        self.context = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(96, 48, 1), nn.ReLU())
        self.project, self.head = normed(240, 48, 1, nn.ReLU), nn.Conv2d(48, 21, 1)

    def forward(self, image: Tensor) -> Tensor:
        x = self.backbone(image)
        context = functional.interpolate(
            self.context(x), size=x.shape[2:], mode="bilinear", align_corners=False
        )
        x = torch.cat([*(branch(x) for branch in self.branches), context], 1)
        x = self.head(self.project(x))
        return functional.interpolate(x, size=image.shape[2:], mode="bilinear", align_corners=False)


def _unit(before: int, after: int, kernel: int = 1, stride: int = 1) -> nn.Sequential:
    return normed(before, after, kernel, nn.SiLU, stride=stride)


class _Split(nn.Module):
    """YOLOv8's block: half of the channels pass through further convolutions; all results are kept."""

    def __init__(self, before: int, after: int, count: int, residual: bool) -> None:
        super().__init__()
        half, self.residual = after // 2, residual
        self.into, self.out = _unit(before, after), _unit((2 + count) * half, after)
        self.layers = nn.ModuleList(
            nn.Sequential(_unit(half, half, 3), _unit(half, half, 3)) for _ in range(count)
        )

    def forward(self, x: Tensor) -> Tensor:
        parts = list(self.into(x).chunk(2, 1))
        for layer in self.layers:
            y = layer(parts[-1])
            parts.append(parts[-1] + y if self.residual else y)
        return self.out(torch.cat(parts, 1))


class Yolo(nn.Module):
    """YOLOv8-nano's structure (Jocher et al., 2023): a pyramid of pools, scales merged from the top and from
    the bottom, boxes from distributions of distances. An image of 160 x 160."""

    def __init__(self, classes: int = 20, bins: int = 16) -> None:
        super().__init__()
        self.bins = bins
        self.stem = nn.Sequential(_unit(3, 16, 3, 2), _unit(16, 32, 3, 2), _Split(32, 32, 1, True))
        self.three = nn.Sequential(_unit(32, 64, 3, 2), _Split(64, 64, 2, True))
        self.four = nn.Sequential(_unit(64, 128, 3, 2), _Split(128, 128, 2, True))
        self.five = nn.Sequential(_unit(128, 256, 3, 2), _Split(256, 256, 1, True))
        self.pools_in, self.pools_out = _unit(256, 128), _unit(512, 256)
        self.up_four, self.up_three = _Split(384, 128, 1, False), _Split(192, 64, 1, False)
        self.down_three, self.down_four = _unit(64, 64, 3, 2), _unit(128, 128, 3, 2)
        self.out_four, self.out_five = _Split(192, 128, 1, False), _Split(384, 256, 1, False)
        self.boxes, self.classes = nn.ModuleList(), nn.ModuleList()
        for width in (64, 128, 256):
            self.boxes.append(nn.Sequential(_unit(width, 64, 3), nn.Conv2d(64, 4 * bins, 1)))
            self.classes.append(nn.Sequential(_unit(width, 64, 3), nn.Conv2d(64, classes, 1)))
        self.register_buffer("distances", torch.arange(bins).float().view(1, bins, 1, 1))

    def forward(self, image: Tensor) -> Tensor:
        three = self.three(self.stem(image))
        four = self.four(three)
        five = self._pooled(self.five(four))
        four = self.up_four(torch.cat([functional.interpolate(five, scale_factor=2.0), four], 1))
        three = self.up_three(torch.cat([functional.interpolate(four, scale_factor=2.0), three], 1))
        four = self.out_four(torch.cat([self.down_three(three), four], 1))
        five = self.out_five(torch.cat([self.down_four(four), five], 1))
        found = []
        for x, boxes, classes in zip((three, four, five), self.boxes, self.classes, strict=True):
            found.append(torch.cat([boxes(x), classes(x)], 1).flatten(2))
        sides, scores = torch.cat(found, 2).split((4 * self.bins, found[0].shape[1] - 4 * self.bins), 1)
        sides = sides.reshape(len(sides), 4, self.bins, -1).transpose(1, 2).softmax(1)
        return torch.cat([(sides * self.distances).sum(1), scores.sigmoid()], 1)

    def _pooled(self, x: Tensor) -> Tensor:
        parts = [self.pools_in(x)]
        for _ in range(3):
            parts.append(functional.max_pool2d(parts[-1], 5, 1, 2))
        return self.pools_out(torch.cat(parts, 1))


class Ssd(nn.Module):
    """SSDLite's structure (Liu et al., 2016; Sandler et al., 2018): heads at four scales whose results are
    permuted and joined. An image of 192 x 192."""

    def __init__(self, boxes: int = 6, classes: int = 21) -> None:
        super().__init__()
        self.first = nn.Sequential(
            normed(3, 16, 3, nn.ReLU6, stride=2),
            InvertedResidual(16, 64, 24, nn.ReLU6, stride=2),
            InvertedResidual(24, 144, 48, nn.ReLU6, stride=2),
            InvertedResidual(48, 192, 96, nn.ReLU6, stride=2),
        )
        self.further = nn.ModuleList(
            InvertedResidual(before, 2 * before, after, nn.ReLU6, stride=2)
            for before, after in ((96, 160), (160, 128), (128, 64))
        )
        self.heads = nn.ModuleList(
            nn.ModuleList(
                nn.Sequential(
                    normed(width, width, 3, nn.ReLU6, groups=width), nn.Conv2d(width, boxes * values, 1)
                )
                for values in (4, classes)
            )
            for width in (96, 160, 128, 64)
        )
        self.values = (4, classes)

    def forward(self, image: Tensor) -> tuple[Tensor, ...]:
        scales = [self.first(image)]
        for layer in self.further:
            scales.append(layer(scales[-1]))
        found = []
        for index, values in enumerate(self.values):
            parts = [heads[index](x) for x, heads in zip(scales, self.heads, strict=True)]
            found.append(torch.cat([x.permute(0, 2, 3, 1).reshape(1, -1, values) for x in parts], 1))
        return found[0], found[1].softmax(-1)


class Fpn(nn.Module):
    """Lin et al., 2017: residual stages, and sums of scales from the top down. An image of 160 x 160."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.stem = nn.Sequential(normed(3, 32, 7, nn.ReLU, stride=2), nn.MaxPool2d(3, 2, 1))
        widths = (32, 64, 128, 256)
        self.stages = nn.ModuleList(
            nn.Sequential(normed(a, b, 3, nn.ReLU, stride=2), normed(b, b, 3, nn.ReLU))
            for a, b in pairwise(widths)
        )
        self.lateral = nn.ModuleList(nn.Conv2d(each, width, 1) for each in widths)
        self.smooth = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in widths)

    def forward(self, image: Tensor) -> tuple[Tensor, ...]:
        scales = [self.stem(image)]
        for stage in self.stages:
            scales.append(stage(scales[-1]))
        merged = [self.lateral[-1](scales[-1])]
        for layer, x in zip(list(self.lateral)[-2::-1], scales[-2::-1], strict=True):
            above = functional.interpolate(merged[0], size=x.shape[2:], mode="nearest")
            merged.insert(0, layer(x) + above)
        return tuple(layer(x) for layer, x in zip(self.smooth, merged, strict=True))


def super_resolution() -> nn.Sequential:
    """Shi et al., 2016: sub-pixel convolution by 3, with PReLU. An image of 96 x 96 with one channel."""
    return nn.Sequential(
        nn.Conv2d(1, 64, 5, padding=2),
        nn.PReLU(64),
        nn.Conv2d(64, 64, 3, padding=1),
        nn.PReLU(64),
        nn.Conv2d(64, 32, 3, padding=1),
        nn.PReLU(32),
        nn.Conv2d(32, 9, 3, padding=1),
        nn.PixelShuffle(3),
    )


class _Residual(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for _ in range(2):
            layers += [
                nn.ReflectionPad2d(1),
                nn.Conv2d(width, width, 3),
                nn.InstanceNorm2d(width, affine=True),
            ]
        self.layers = nn.Sequential(*layers[:3], nn.ReLU(), *layers[3:])

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x)


def style_transfer() -> nn.Sequential:
    """Johnson et al., 2016, at half the width: reflected borders, instance norms, nearest upsampling. An
    image of 96 x 96."""

    def layer(before: int, after: int, kernel: int, stride: int = 1) -> list[nn.Module]:
        convolution = nn.Conv2d(before, after, kernel, stride)
        return [
            nn.ReflectionPad2d(kernel // 2),
            convolution,
            nn.InstanceNorm2d(after, affine=True),
            nn.ReLU(),
        ]

    return nn.Sequential(
        *layer(3, 16, 9), *layer(16, 32, 3, 2), *layer(32, 64, 3, 2), *(_Residual(64) for _ in range(3)),
        nn.Upsample(scale_factor=2), *layer(64, 32, 3), nn.Upsample(scale_factor=2), *layer(32, 16, 3),
        nn.ReflectionPad2d(4), nn.Conv2d(16, 3, 9),
    )  # fmt: skip

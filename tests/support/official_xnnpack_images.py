# SPDX-License-Identifier: BSD-3-Clause
"""Small networks on images, each with an unusual operator or structure."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from support.interop.models import convolution


class ConvNextBlock(nn.Module):
    """A depthwise 7x7 convolution, a norm over channels, two linear layers, scales, a shortcut."""

    def __init__(self, channels: int = 8) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 2, stride=2)
        self.mix = nn.Conv2d(channels, channels, 7, padding=3, groups=channels)
        self.norm = nn.LayerNorm(channels)
        self.layers = nn.Sequential(
            nn.Linear(channels, 4 * channels), nn.GELU(), nn.Linear(4 * channels, channels)
        )
        self.scales = nn.Parameter(torch.rand(channels))

    def forward(self, image: Tensor) -> Tensor:
        x = self.stem(image)
        y = self.layers(self.norm(self.mix(x).permute(0, 2, 3, 1))) * self.scales
        return x + y.permute(0, 3, 1, 2)


class Aspp(nn.Module):
    """DeepLab's pyramid: dilated convolutions beside the average of all pixels, joined and enlarged."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = convolution(3, 8, 3, padding=1, stride=2)
        self.branches = nn.ModuleList(
            [convolution(8, 6, 1), *(convolution(8, 6, 3, padding=d, dilation=d) for d in (2, 3))]
        )
        self.whole = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(8, 6, 1), nn.ReLU())
        self.last = nn.Conv2d(24, 4, 1)

    def forward(self, image: Tensor) -> Tensor:
        x = self.stem(image)
        size = x.shape[2:]
        whole = functional.interpolate(self.whole(x), size=size, mode="bilinear", align_corners=False)
        joined = self.last(torch.cat([*(branch(x) for branch in self.branches), whole], 1))
        return functional.interpolate(joined, scale_factor=2, mode="bilinear", align_corners=True)


class ShuffleUnit(nn.Module):
    """ShuffleNet: half of the channels passes, the others take grouped convolutions, then a shuffle."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = convolution(3, 12, 3, padding=1, stride=2)
        self.branch = nn.Sequential(
            convolution(6, 6, 1, groups=2), convolution(6, 6, 3, padding=1, groups=6)[:2], nn.Conv2d(6, 6, 1)
        )

    def forward(self, image: Tensor) -> Tensor:
        passed, worked = self.stem(image).chunk(2, 1)
        x = torch.cat([passed, self.branch(worked)], 1)
        n, channels, height, width = x.shape
        return x.view(n, 2, channels // 2, height, width).transpose(1, 2).reshape(n, channels, height, width)


class BlazeBlock(nn.Module):
    """A depthwise 5x5 convolution and a 1x1 convolution; the shortcut is pooled and padded with zero
    channels."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.stride, self.more = stride, outputs - inputs
        self.layers = nn.Sequential(
            nn.Conv2d(inputs, inputs, 5, stride=stride, padding=2, groups=inputs),
            nn.Conv2d(inputs, outputs, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        passed = functional.max_pool2d(x, 2) if self.stride == 2 else x
        return functional.relu(self.layers(x) + functional.pad(passed, (0, 0, 0, 0, 0, self.more)))


class FaceDetector(nn.Module):
    """BlazeFace: boxes and scores of the anchors of two scales."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.ZeroPad2d((1, 2, 1, 2)), nn.Conv2d(3, 8, 5, stride=2), nn.ReLU())
        self.fine = nn.Sequential(BlazeBlock(8, 8, 1), BlazeBlock(8, 12, 1))
        self.coarse = BlazeBlock(12, 16, 2)
        self.scores = nn.ModuleList([nn.Conv2d(12, 2, 1), nn.Conv2d(16, 6, 1)])
        self.boxes = nn.ModuleList([nn.Conv2d(12, 8, 1), nn.Conv2d(16, 24, 1)])

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        fine = self.fine(self.stem(image))
        scales = (fine, self.coarse(fine))
        n = image.shape[0]

        def rows(layers: nn.ModuleList, size: int) -> Tensor:
            found = [layer(x).permute(0, 2, 3, 1) for layer, x in zip(layers, scales, strict=True)]
            return torch.cat([each.reshape(n, -1, size) for each in found], 1)

        return rows(self.boxes, 4), torch.sigmoid(rows(self.scores, 1).clamp(-6, 6))


class BilinearUNet(nn.Module):
    """Two steps down, and up again by bilinear enlargement; three outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList([convolution(3, 6, 3, padding=1), convolution(6, 8, 3, padding=1)])
        self.deep = convolution(8, 10, 3, padding=1)
        self.up = nn.ModuleList([nn.Conv2d(18, 8, 3, padding=1), nn.Conv2d(14, 6, 3, padding=1)])
        self.last = nn.Conv2d(6, 2, 1)

    def forward(self, image: Tensor) -> tuple[Tensor, ...]:
        first = self.down[0](image)
        second = self.down[1](functional.max_pool2d(first, 2))
        x = self.deep(functional.avg_pool2d(second, 2))
        outputs = [x]
        for skipped, layer in zip((second, first), self.up, strict=True):
            larger = functional.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False)
            x = functional.relu(layer(torch.cat([larger, skipped], 1)))
            outputs.append(x)
        return self.last(x), *outputs[:2]


class MobileBlock(nn.Module):
    """MobileNetV3's block: hardswish, depthwise 5x5, scales of channels by hardsigmoid."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.Hardswish())
        self.wide = nn.Sequential(nn.Conv2d(8, 24, 1), nn.Hardswish())
        self.each = nn.Sequential(nn.Conv2d(24, 24, 5, padding=2, groups=24), nn.Hardswish())
        self.scales = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(24, 8, 1), nn.ReLU(), nn.Conv2d(8, 24, 1), nn.Hardsigmoid()
        )
        self.narrow = nn.Conv2d(24, 8, 1)

    def forward(self, image: Tensor) -> Tensor:
        x = self.stem(image)
        wide = self.each(self.wide(x))
        return x + self.narrow(wide * self.scales(wide))


class Generator(nn.Module):
    """A linear layer to a small image, enlarged by transposed convolutions, some of them grouped."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(10, 8 * 3 * 3)
        self.layers = nn.Sequential(
            nn.ConvTranspose2d(8, 8, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(8, 4, 3, stride=2, padding=1, output_padding=1),
            nn.LeakyReLU(0.1),
            nn.ConvTranspose2d(4, 3, (5, 3), padding=(2, 1), bias=False),
            nn.Tanh(),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(self.first(x).unflatten(1, (8, 3, 3)))


class Enhancer(nn.Module):
    """Super-resolution with parametric ReLU, a shortcut and a pixel shuffle."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.slopes = nn.Conv2d(3, 8, 5, padding=2), nn.PReLU(8)
        self.second, self.slope = nn.Conv2d(8, 8, 3, padding=1), nn.PReLU()
        self.last = nn.Conv2d(8, 27, 3, padding=1)

    def forward(self, image: Tensor) -> Tensor:
        x = self.slopes(self.first(image))
        x = x + self.slope(self.second(x))
        enlarged = functional.interpolate(image, scale_factor=3, mode="bilinear", align_corners=False)
        return functional.pixel_shuffle(self.last(x), 3) + enlarged


class Attentive(nn.Module):
    """CBAM: scales of channels from their averages and maxima, then scales of pixels from averages and maxima
    over channels."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = convolution(3, 8, 3, padding=1)
        self.channels = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 8))
        self.pixels = nn.Conv2d(2, 1, 7, padding=3, bias=False)

    def forward(self, image: Tensor) -> Tensor:
        x = self.stem(image)
        averages, maxima = x.mean((2, 3)), x.amax((2, 3))
        x = x * torch.sigmoid(self.channels(averages) + self.channels(maxima))[:, :, None, None]
        over = torch.cat([x.mean(1, keepdim=True), x.amax(1, keepdim=True)], 1)
        return x * torch.sigmoid(self.pixels(over))


class Detector(nn.Module):
    """YOLO's parts: SiLU, split and concatenated channels, pools with stride 1, nearest-neighbour
    enlargement."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.down = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 12, 3, 2, 1)
        self.inner = nn.Conv2d(6, 6, 3, padding=1)
        self.pooled, self.last = nn.Conv2d(72, 8, 1), nn.Conv2d(16, 5, 1)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        fine = functional.silu(self.stem(image))
        parts = list(functional.silu(self.down(fine)).split(6, 1))
        parts.append(parts[-1] + functional.silu(self.inner(parts[-1])))
        x = torch.cat(parts, 1)
        pools = [x]
        for _ in range(3):
            pools.append(functional.max_pool2d(pools[-1], 5, 1, 2))
        x = functional.silu(self.pooled(torch.cat(pools, 1)))
        enlarged = functional.interpolate(x, scale_factor=2, mode="nearest")
        return self.last(torch.cat([enlarged, fine], 1)), x


class Ghost(nn.Module):
    """Half of the channels come from the other half, by a depthwise convolution with a depth multiplier."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 6, 3, stride=2), nn.ReLU6())
        self.cheap = nn.Sequential(nn.Conv2d(6, 12, 3, padding=1, groups=6), nn.Hardtanh(-0.5, 2.0))
        self.last = nn.Linear(18, 4)

    def forward(self, image: Tensor) -> Tensor:
        x = self.first(image)
        x = torch.cat([x, self.cheap(x)], 1)
        return functional.log_softmax(self.last(functional.max_pool2d(x, 3, ceil_mode=True).mean((2, 3))), -1)


class Joined(nn.Module):
    """Tensors with several readers, as outputs too, broadcast, and two layers with one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv2d(3, 3, 3, padding=1)
        self.offset = nn.Parameter(torch.randn(1, 3, 1, 1))

    def forward(self, a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
        first, second = self.layer(a), self.layer(b)
        both = functional.relu(first + second)
        scaled = both * self.offset - first.mean((2, 3), keepdim=True)
        return first, both, torch.cat([scaled, second], 1), torch.maximum(first, second).flatten(1)


IMAGE = (1, 3, 16, 16)

IMAGES = {
    "convnext": (ConvNextBlock, (IMAGE,)),
    "aspp": (Aspp, (IMAGE,)),
    "shuffle": (ShuffleUnit, ((2, 3, 10, 14),)),
    "face": (FaceDetector, (IMAGE,)),
    "bilinear u-net": (BilinearUNet, (IMAGE,)),
    "mobile block": (MobileBlock, (IMAGE,)),
    "generator": (Generator, ((2, 10),)),
    "enhancer": (Enhancer, ((1, 3, 7, 9),)),
    "attentive": (Attentive, ((2, 3, 9, 8),)),
    "yolo": (Detector, (IMAGE,)),
    "ghost": (Ghost, ((2, 3, 15, 18),)),
    "joined": (Joined, ((1, 3, 8, 6), (1, 3, 8, 6))),
}
"""Modules and the shapes of their inputs."""

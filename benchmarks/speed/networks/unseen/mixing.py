# SPDX-License-Identifier: BSD-3-Clause
"""Image classifiers that mix positions by attention, linear layers or large kernels, with random weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from networks.transformers import EncoderLayer
from networks.vision import InvertedResidual, normed


class _NormOfChannels(nn.Module):
    """A layer norm over the channels of an image."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(channels, eps=1e-6)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class _ConvNextBlock(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.linear = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.scale = nn.Parameter(torch.full((width,), 0.5))

    def forward(self, x: Tensor) -> Tensor:
        y = self.depthwise(x).permute(0, 2, 3, 1)
        y = self.linear(self.norm(y)) * self.scale
        return x + y.permute(0, 3, 1, 2)


def convnext() -> nn.Sequential:
    """ConvNeXt-Atto's widths (Liu et al., 2022). An image of 160 x 160."""
    layers: list[nn.Module] = [nn.Conv2d(3, 40, 4, 4), _NormOfChannels(40)]
    before = 40
    for width, count in ((40, 2), (80, 2), (160, 4), (320, 2)):
        if width != before:
            layers += [_NormOfChannels(before), nn.Conv2d(before, width, 2, 2)]
        layers += [_ConvNextBlock(width) for _ in range(count)]
        before = width
    return nn.Sequential(
        *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.LayerNorm(before), nn.Linear(before, 100)
    )


def _windows(x: Tensor, size: int) -> Tensor:
    batch, height, width, channels = x.shape
    x = x.view(batch, height // size, size, width // size, size, channels)
    return x.transpose(2, 3).reshape(-1, size * size, channels)


def _joined(x: Tensor, size: int, height: int, width: int) -> Tensor:
    x = x.view(-1, height // size, width // size, size, size, x.shape[-1])
    return x.transpose(2, 3).reshape(-1, height, width, x.shape[-1])


class _WindowAttention(nn.Module):
    """Attention within windows of an image [batch, height, width, channels], shifted in every second block,
    with a bias for each relative position."""

    def __init__(self, width: int, heads: int, size: int, side: int, shift: int) -> None:
        super().__init__()
        self.heads, self.size, self.shift, self.side = heads, size, shift, side
        self.qkv, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.table = nn.Parameter(torch.randn((2 * size - 1) ** 2, heads) * 0.02)
        at = torch.stack(torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")).flatten(1)
        apart = (at[:, :, None] - at[:, None]) + size - 1
        self.register_buffer("index", apart[0] * (2 * size - 1) + apart[1])
        regions = torch.zeros(1, side, side, 1)
        if shift:
            spans = (slice(0, -size), slice(-size, -shift), slice(-shift, None))
            for number, (rows, columns) in enumerate((a, b) for a in spans for b in spans):
                regions[:, rows, columns] = number
        seen = _windows(regions, size).squeeze(-1)
        self.register_buffer("mask", (seen[:, None] != seen[:, :, None]).float()[:, None] * -100.0)

    def forward(self, x: Tensor) -> Tensor:
        if self.shift:
            x = torch.roll(x, (-self.shift, -self.shift), (1, 2))
        windows = _windows(x, self.size)
        count, tokens, width = windows.shape
        qkv = self.qkv(windows).view(count, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        query, key, value = qkv.unbind(0)
        scores = query * (width // self.heads) ** -0.5 @ key.transpose(-2, -1)
        scores = scores + self.table[self.index].permute(2, 0, 1)
        if self.shift:
            scores = scores + self.mask
        mixed = (scores.softmax(-1) @ value).transpose(1, 2).reshape(count, tokens, width)
        x = _joined(self.output(mixed), self.size, self.side, self.side)
        return torch.roll(x, (self.shift, self.shift), (1, 2)) if self.shift else x


class _SwinBlock(nn.Module):
    def __init__(self, width: int, heads: int, size: int, side: int, shift: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.attention = _WindowAttention(width, heads, size, side, shift)
        self.linear = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norms[0](x))
        return x + self.linear(self.norms[1](x))


class _Merging(nn.Module):
    """Four neighbours become one position with twice the channels."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.linear = nn.LayerNorm(4 * width), nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        parts = [x[:, i::2, j::2] for j in (0, 1) for i in (0, 1)]
        return self.linear(self.norm(torch.cat(parts, -1)))


class Swin(nn.Module):
    """Liu et al., 2021: three stages of two blocks in windows of 7 x 7. An image of 112 x 112."""

    def __init__(self, width: int = 48) -> None:
        super().__init__()
        self.patches, self.norm = nn.Conv2d(3, width, 4, 4), nn.LayerNorm(width)
        layers: list[nn.Module] = []
        for stage, side in enumerate((28, 14, 7)):
            if stage:
                layers.append(_Merging(width))
                width *= 2
            shifts = (0, 3 if side > 7 else 0)
            layers += [_SwinBlock(width, width // 16, 7, side, shift) for shift in shifts]
        self.layers, self.last, self.head = nn.Sequential(*layers), nn.LayerNorm(width), nn.Linear(width, 100)

    def forward(self, image: Tensor) -> Tensor:
        x = self.norm(self.patches(image).permute(0, 2, 3, 1))
        return self.head(self.last(self.layers(x)).mean((1, 2)))


class _MixerLayer(nn.Module):
    def __init__(self, tokens: int, width: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.tokens = nn.Sequential(nn.Linear(tokens, width // 2), nn.GELU(), nn.Linear(width // 2, tokens))
        self.channels = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.tokens(self.norms[0](x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norms[1](x))


class Mixer(nn.Module):
    """MLP-Mixer (Tolstikhin et al., 2021) on 100 patches. An image of 160 x 160."""

    def __init__(self, width: int = 192, layers: int = 6) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 16, 16)
        self.layers = nn.Sequential(*(_MixerLayer(100, width) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 100)

    def forward(self, image: Tensor) -> Tensor:
        x = self.patches(image).flatten(2).transpose(1, 2)
        return self.head(self.norm(self.layers(x)).mean(1))


class _MobileVitBlock(nn.Module):
    """Attention between the pixels with the same index in all 2 x 2 patches."""

    def __init__(self, channels: int, width: int, layers: int) -> None:
        super().__init__()
        self.into = nn.Sequential(
            normed(channels, channels, 3, nn.SiLU), nn.Conv2d(channels, width, 1, bias=False)
        )
        self.layers = nn.Sequential(*(EncoderLayer(width, 4, 2 * width, True) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.back, self.fused = (
            normed(width, channels, 1, nn.SiLU),
            normed(2 * channels, channels, 3, nn.SiLU),
        )

    def forward(self, x: Tensor) -> Tensor:
        y = self.into(x)
        batch, width, height, length = y.shape
        patches = y.reshape(batch * width * height // 2, 2, length // 2, 2).transpose(1, 2)
        tokens = patches.reshape(batch, width, -1, 4).transpose(1, 3).reshape(batch * 4, -1, width)
        tokens = self.norm(self.layers(tokens))
        y = tokens.view(batch, 4, -1, width).transpose(1, 3)
        y = y.reshape(batch * width * height // 2, length // 2, 2, 2).transpose(1, 2)
        y = self.back(y.reshape(batch, width, height, length))
        return self.fused(torch.cat([x, y], 1))


def mobilevit() -> nn.Sequential:
    """MobileViT-XXS (Mehta and Rastegari, 2022). An image of 192 x 192."""

    def block(before: int, after: int, stride: int = 1) -> InvertedResidual:
        return InvertedResidual(before, 2 * before, after, nn.SiLU, stride=stride)

    return nn.Sequential(
        normed(3, 16, 3, nn.SiLU, stride=2), block(16, 16), block(16, 24, 2), block(24, 24), block(24, 24),
        block(24, 48, 2), _MobileVitBlock(48, 64, 2), block(48, 64, 2), _MobileVitBlock(64, 80, 4),
        block(64, 80, 2), _MobileVitBlock(80, 96, 3), normed(80, 320, 1, nn.SiLU),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(320, 100),
    )  # fmt: skip


class _Pooling(nn.Module):
    """PoolFormer's block (Yu et al., 2022): average pooling in place of attention, with group norms."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.GroupNorm(1, width) for _ in range(2))
        self.layers = nn.Sequential(nn.Conv2d(width, 4 * width, 1), nn.GELU(), nn.Conv2d(4 * width, width, 1))
        self.scales = nn.ParameterList(torch.full((width, 1, 1), 0.5) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        y = self.norms[0](x)
        x = x + self.scales[0] * (functional.avg_pool2d(y, 3, 1, 1, count_include_pad=False) - y)
        return x + self.scales[1] * self.layers(self.norms[1](x))


def poolformer() -> nn.Sequential:
    """PoolFormer-S12's stages at half the width, one or two blocks each. An image of 160 x 160."""
    layers: list[nn.Module] = [nn.Conv2d(3, 32, 7, 4, 2)]
    before = 32
    for width, count in ((32, 1), (64, 2), (160, 2), (256, 1)):
        if width != before:
            layers.append(nn.Conv2d(before, width, 3, 2, 1))
        layers += [_Pooling(width) for _ in range(count)]
        before = width
    return nn.Sequential(
        *layers, nn.GroupNorm(1, before), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 100)
    )

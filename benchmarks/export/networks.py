# SPDX-License-Identifier: BSD-3-Clause
"""Networks of the sizes that exporters meet, with random weights."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

Made = tuple[nn.Module, tuple[Tensor, ...]]


class Inverted(nn.Module):
    """A block of MobileNet v2: widen, filter each channel, narrow, and add what went in where that fits."""

    def __init__(self, channels: int, out: int, stride: int, widen: int) -> None:
        super().__init__()
        inner = channels * widen
        layers: list[nn.Module] = []
        if widen > 1:
            layers += [nn.Conv2d(channels, inner, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU6()]
        filters = nn.Conv2d(inner, inner, 3, stride, 1, groups=inner, bias=False)
        layers += [filters, nn.BatchNorm2d(inner), nn.ReLU6()]
        self.layers = nn.Sequential(*layers, nn.Conv2d(inner, out, 1, bias=False), nn.BatchNorm2d(out))
        self.adds = stride == 1 and channels == out

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x) if self.adds else self.layers(x)


def mobilenet() -> Made:
    """MobileNet v2 for images of 224 x 224: 3.5 million weights."""
    blocks = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2)]
    layers: list[nn.Module] = [nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU6()]
    channels = 32
    for widen, out, count, stride in [*blocks, (6, 320, 1, 1)]:
        for index in range(count):
            layers.append(Inverted(channels, out, stride if index == 0 else 1, widen))
            channels = out
    layers += [nn.Conv2d(channels, 1280, 1, bias=False), nn.BatchNorm2d(1280), nn.ReLU6()]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000)]
    return nn.Sequential(*layers).eval(), (torch.randn(1, 3, 224, 224),)


class Attention(nn.Module):
    """A layer of an encoder with 12 heads."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.widen, self.narrow = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        heads = [f(x).unflatten(-1, (12, -1)).transpose(1, 2) for f in (self.query, self.key, self.value)]
        mixed = nn.functional.scaled_dot_product_attention(*heads)
        x = self.norm1(x + self.out(mixed.transpose(1, 2).flatten(-2)))
        return self.norm2(x + self.narrow(nn.functional.gelu(self.widen(x))))


class Encoder(nn.Module):
    """MiniLM's sizes: 6 layers, 384 wide, 128 tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(30522, 384), nn.Embedding(512, 384)
        self.layers = nn.Sequential(*(Attention(384, 1536) for _ in range(6)))

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        return nn.functional.normalize(self.layers(x).mean(1), dim=1)


def encoder() -> Made:
    """A sentence encoder: 22.5 million weights, half of them words."""
    return Encoder().eval(), (torch.randint(0, 30522, (1, 128)),)


class Recurrent(nn.Module):
    """Three layers of LSTM over 40 steps, which exporters unroll."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(40, 256, 3, batch_first=True)
        self.out = nn.Linear(256, 256)

    def forward(self, x: Tensor) -> Tensor:
        _, (hidden, _) = self.lstm(x)
        return self.out(hidden[-1])


def recurrent() -> Made:
    """A speaker encoder: 1.4 million weights, thousands of nodes."""
    return Recurrent().eval(), (torch.randn(1, 40, 40),)


MODELS: dict[str, Callable[[], Made]] = {
    "MobileNet v2": mobilenet,
    "MiniLM encoder": encoder,
    "LSTM, unrolled": recurrent,
}


def large(megabytes: int) -> Made:
    """Layers of 1,024 x 1,024 weights, together of a size."""
    count = max(1, megabytes * 1_000_000 // (1024 * 1025 * 4))
    return nn.Sequential(*(nn.Linear(1024, 1024) for _ in range(count))).eval(), (torch.randn(1, 1024),)

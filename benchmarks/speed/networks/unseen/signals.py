# SPDX-License-Identifier: BSD-3-Clause
"""Networks over time: audio, speech and sensors, with random weights."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from networks.transformers import Attention, EncoderLayer


class _Causal(nn.Module):
    """Two dilated convolutions that see the past only, and a residual."""

    def __init__(self, before: int, after: int, dilation: int, kernel: int = 3) -> None:
        super().__init__()
        self.past = (kernel - 1) * dilation
        self.layers = nn.ModuleList(
            nn.Conv1d(width, after, kernel, dilation=dilation) for width in (before, after)
        )
        self.shortcut = nn.Identity() if before == after else nn.Conv1d(before, after, 1)

    def forward(self, x: Tensor) -> Tensor:
        y = x
        for layer in self.layers:
            y = functional.relu(layer(functional.pad(y, (self.past, 0))))
        return functional.relu(y + self.shortcut(x))


def tcn() -> nn.Sequential:
    """Temporal convolutions (Bai et al., 2018) over 12 sensors, 256 steps."""
    widths = (12, 48, 48, 48, 48, 48)
    layers = [_Causal(before, after, 2**index) for index, (before, after) in enumerate(pairwise(widths))]
    return nn.Sequential(*layers, nn.Conv1d(48, 6, 1))


class WaveNet(nn.Module):
    """van den Oord et al., 2016: gated dilated convolutions with skips. 1 x 1 x 800 samples."""

    def __init__(self, width: int = 32, skips: int = 64, layers: int = 8) -> None:
        super().__init__()
        self.first = nn.Conv1d(1, width, 1)
        self.dilated = nn.ModuleList(
            nn.Conv1d(width, 2 * width, 2, dilation=2 ** (index % 6)) for index in range(layers)
        )
        self.residual = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in range(layers))
        self.skip = nn.ModuleList(nn.Conv1d(width, skips, 1) for _ in range(layers))
        self.last = nn.Sequential(nn.ReLU(), nn.Conv1d(skips, skips, 1), nn.ReLU(), nn.Conv1d(skips, 256, 1))

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        total: Tensor | None = None
        for dilated, residual, skip in zip(self.dilated, self.residual, self.skip, strict=True):
            value, gate = dilated(functional.pad(x, (int(dilated.dilation[0]), 0))).chunk(2, 1)
            y = torch.tanh(value) * torch.sigmoid(gate)
            total = skip(y) if total is None else total + skip(y)
            x = x + residual(y)
        assert total is not None
        return self.last(total)


class _ConformerLayer(nn.Module):
    """Half-step linear layers around attention and a gated depthwise convolution over time."""

    def __init__(self, width: int, heads: int, kernel: int) -> None:
        super().__init__()
        self.halves = nn.ModuleList(
            nn.Sequential(
                nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width)
            )
            for _ in range(2)
        )
        self.attention_norm, self.attention = nn.LayerNorm(width), Attention(width, heads)
        self.norm, self.last = nn.LayerNorm(width), nn.LayerNorm(width)
        self.into, self.out = nn.Conv1d(width, 2 * width, 1), nn.Conv1d(width, width, 1)
        self.depthwise = nn.Conv1d(width, width, kernel, padding=kernel // 2, groups=width)
        self.batch_norm = nn.BatchNorm1d(width)

    def forward(self, x: Tensor) -> Tensor:
        x = x + 0.5 * self.halves[0](x)
        x = x + self.attention(self.attention_norm(x))
        y = functional.glu(self.into(self.norm(x).transpose(1, 2)), 1)
        x = x + self.out(functional.silu(self.batch_norm(self.depthwise(y)))).transpose(1, 2)
        x = x + 0.5 * self.halves[1](x)
        return self.last(x)


class Conformer(nn.Module):
    """Gulati et al., 2020, small: 160 frames of 80 mel values at a quarter of the rate."""

    def __init__(self, width: int = 144, layers: int = 4) -> None:
        super().__init__()
        self.subsample = nn.Sequential(nn.Conv2d(1, 32, 3, 2), nn.ReLU(), nn.Conv2d(32, 32, 3, 2), nn.ReLU())
        self.linear = nn.Linear(32 * 19, width)
        self.layers = nn.Sequential(*(_ConformerLayer(width, 4, 31) for _ in range(layers)))
        self.head = nn.Linear(width, 128)

    def forward(self, mel: Tensor) -> Tensor:
        x = self.subsample(mel).transpose(1, 2).flatten(2)
        return functional.log_softmax(self.head(self.layers(self.linear(x))), -1)


class Wav2Vec(nn.Module):
    """wav2vec 2.0's structure (Baevski et al., 2020): strided convolutions over the samples, a grouped
    positional convolution, and a transformer. 1 x 1 x 16000 samples."""

    def __init__(self, channels: int = 96, width: int = 144, layers: int = 3) -> None:
        super().__init__()
        made: list[nn.Module] = [nn.Conv1d(1, channels, 10, 5), nn.GroupNorm(channels, channels), nn.GELU()]
        for kernel in (3, 3, 3, 3, 2, 2):
            made += [nn.Conv1d(channels, channels, kernel, 2), nn.GELU()]
        self.features, self.norm = nn.Sequential(*made), nn.LayerNorm(channels)
        self.linear = nn.Linear(channels, width)
        self.positions = nn.Conv1d(width, width, 32, padding=16, groups=8)
        self.layers = nn.Sequential(*(EncoderLayer(width, 4, 4 * width, False) for _ in range(layers)))

    def forward(self, samples: Tensor) -> Tensor:
        x = self.linear(self.norm(self.features(samples).transpose(1, 2)))
        at = functional.gelu(self.positions(x.transpose(1, 2))[:, :, :-1]).transpose(1, 2)
        return self.layers(x + at)


class Whisper(nn.Module):
    """The encoder of Whisper (Radford et al., 2022) at half of tiny's width: 80 mel values, 600 frames."""

    def __init__(self, width: int = 192, layers: int = 3, frames: int = 600) -> None:
        super().__init__()
        self.first = nn.Conv1d(80, width, 3, padding=1)
        self.second = nn.Conv1d(width, width, 3, stride=2, padding=1)
        self.positions = nn.Parameter(torch.randn(frames // 2, width) * 0.02)
        self.layers = nn.Sequential(*(EncoderLayer(width, 3, 4 * width, True) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)

    def forward(self, mel: Tensor) -> Tensor:
        x = functional.gelu(self.second(functional.gelu(self.first(mel)))).transpose(1, 2)
        return self.norm(self.layers(x + self.positions))


class Keywords(nn.Module):
    """A convolution and two GRU layers over 100 frames of 40 values (Arik et al., 2017)."""

    def __init__(self, hidden: int = 96) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 16, (5, 9), (2, 2), (2, 4))
        self.gru = nn.GRU(16 * 20, hidden, 2, batch_first=True)
        self.head = nn.Linear(hidden, 12)

    def forward(self, frames: Tensor) -> Tensor:
        x = functional.relu(self.first(frames)).transpose(1, 2).flatten(2)
        return self.head(self.gru(x)[0][:, -1])


def autoencoder_1d() -> nn.Sequential:
    """Strided and transposed convolutions over 4 sensors, 512 steps."""
    down: list[nn.Module] = []
    up: list[nn.Module] = []
    widths = (4, 16, 32, 64)
    for before, after in pairwise(widths):
        down += [nn.Conv1d(before, after, 7, 2, 3), nn.BatchNorm1d(after), nn.LeakyReLU(0.1)]
        act = [nn.LeakyReLU(0.1)] if before > 4 else []
        up = [nn.ConvTranspose1d(after, before, 4, 2, 1), *act, *up]
    return nn.Sequential(*down, *up)


def ecg() -> nn.Sequential:
    """A one-dimensional residual network for a heart's signal: 1 x 1000 samples."""

    class Block(nn.Module):
        def __init__(self, before: int, after: int) -> None:
            super().__init__()
            self.layers = nn.Sequential(
                nn.Conv1d(before, after, 15, 2, 7), nn.BatchNorm1d(after), nn.ReLU(),
                nn.Conv1d(after, after, 15, 1, 7), nn.BatchNorm1d(after),
            )  # fmt: skip
            self.shortcut = nn.Sequential(nn.MaxPool1d(2), nn.Conv1d(before, after, 1))

        def forward(self, x: Tensor) -> Tensor:
            return functional.relu(self.layers(x) + self.shortcut(x))

    return nn.Sequential(
        nn.Conv1d(1, 32, 15, 1, 7), nn.BatchNorm1d(32), nn.ReLU(), Block(32, 32), Block(32, 64),
        Block(64, 64), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(64, 5),
    )  # fmt: skip

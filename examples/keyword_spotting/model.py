# SPDX-License-Identifier: BSD-3-Clause
"""A keyword spotter that takes raw samples: a log-mel front end, then a depthwise separable CNN.

The front end follows the usual recipe (Davis and Mermelstein, 1980, without the cosine transform): Hann
windows of 32 ms every 20 ms, the power spectrum by a real FFT, triangular filters on the mel scale, log. The
network has the form of DS-CNN (Zhang et al., "Hello Edge", 2017), smaller. Needs torch.
"""

from __future__ import annotations

import math

import torch
from torch import nn

RATE = 8000
SAMPLES = RATE
WINDOW, HOP, BANDS = 256, 160, 32
LOWEST, HIGHEST = 80.0, 3800.0


def mel(hertz: float) -> float:
    """The pitch in mel of a frequency."""
    return 2595 * math.log10(1 + hertz / 700)


def mel_filters() -> torch.Tensor:
    """[WINDOW / 2 + 1, BANDS]: each column is a triangle over the bins of the spectrum; neighbours meet at
    half height on the mel scale."""
    hertz = torch.arange(WINDOW // 2 + 1) * RATE / WINDOW
    position = (2595 * torch.log10(1 + hertz / 700) - mel(LOWEST)) / (mel(HIGHEST) - mel(LOWEST))
    distance = position[:, None] * (BANDS + 1) - torch.arange(1, BANDS + 1)
    return (1 - distance.abs()).clamp(min=0)


class FrontEnd(nn.Module):
    """int16 samples [n, SAMPLES] to log-mel features, float32 [n, 1, frames, BANDS].

    The clip's mean is subtracted: a louder clip has the same features.
    """

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(WINDOW) / 32768)
        self.register_buffer("filters", mel_filters())

    def forward(self, samples: torch.Tensor) -> torch.Tensor:
        frames = samples.unfold(-1, WINDOW, HOP).float() * self.window
        spectrum = torch.view_as_real(torch.fft.rfft(frames))
        power = spectrum[..., 0] ** 2 + spectrum[..., 1] ** 2
        features = torch.log(power @ self.filters + 1e-7)
        return (features - features.mean(dim=(-1, -2), keepdim=True))[:, None]


def block(channels: int, outputs: int, stride: int) -> nn.Sequential:
    """A depthwise and a pointwise convolution, each with batch norm and ReLU."""
    return nn.Sequential(
        nn.Conv2d(channels, channels, 3, stride, 1, groups=channels, bias=False),
        nn.BatchNorm2d(channels),
        nn.ReLU(),
        nn.Conv2d(channels, outputs, 1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    )


class Spotter(nn.Module):
    """int16 samples [n, SAMPLES] to the probabilities of the classes, float32 [n, classes]."""

    def __init__(self, classes: int, width: int = 48) -> None:
        super().__init__()
        self.front = FrontEnd()
        self.network = nn.Sequential(
            nn.Conv2d(1, width, (9, 5), (2, 2), (4, 2), bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            block(width, width, 1),
            block(width, 2 * width, 2),
            block(2 * width, 2 * width, 1),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(2 * width, classes),
        )

    def logits(self, samples: torch.Tensor) -> torch.Tensor:
        """Before the softmax, as the loss takes them."""
        scores: torch.Tensor = self.network(self.front(samples))
        return scores

    def forward(self, samples: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.logits(samples), dim=1)

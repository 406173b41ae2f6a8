# SPDX-License-Identifier: BSD-3-Clause
"""An anomaly score of a window of raw accelerometer samples: a spectrum, an autoencoder, its error.

The autoencoder learns to reproduce spectra of the healthy machine from a code of four numbers; its error is
large for spectra that it never saw. The network has the form of Hinton and Salakhutdinov (2006). Needs torch.
"""

from __future__ import annotations

import torch
from torch import nn
from vibration import AXES, COUNTS, RATE

FRAME, HOP = 256, 128
BANDS = 20
FEATURES = AXES * BANDS
LOWEST, HIGHEST = 8.0, 780.0


def filters() -> torch.Tensor:
    """[FRAME / 2 + 1, BANDS]: each column is a triangle over the bins of the spectrum; neighbours meet at
    half height. Widths grow with frequency, as harmonics spread with speed: harmonics of a held-out speed
    are in bands where training had harmonics of other speeds."""
    hertz = torch.arange(FRAME // 2 + 1) * RATE / FRAME
    position = (_scale(hertz) - _scale(torch.tensor(LOWEST))) / (
        _scale(torch.tensor(HIGHEST)) - _scale(torch.tensor(LOWEST))
    )
    distance = position[:, None] * (BANDS + 1) - torch.arange(1, BANDS + 1)
    triangles = (1 - distance.abs()).clamp(min=0)
    return triangles / triangles.sum(dim=0)


def _scale(hertz: torch.Tensor) -> torch.Tensor:
    return torch.log1p(hertz / 100)


class FrontEnd(nn.Module):
    """int16 counts [n, SAMPLES, AXES] to logarithms of the power in each band, float32 [n, FEATURES].

    `standardize` makes their mean 0 and their deviation 1 on the healthy machine.

    Powers are means of three frames (Welch, 1967), which have less noise than one longer frame.
    """

    window: torch.Tensor
    filters: torch.Tensor
    mean: torch.Tensor
    scale: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(FRAME) / COUNTS)
        self.register_buffer("filters", filters())
        self.register_buffer("mean", torch.zeros(FEATURES))
        self.register_buffer("scale", torch.ones(FEATURES))

    def logarithms(self, counts: torch.Tensor) -> torch.Tensor:
        samples = counts.transpose(1, 2).float()
        samples = samples - samples.mean(dim=-1, keepdim=True)  # without gravity
        spectrum = torch.view_as_real(torch.fft.rfft(samples.unfold(-1, FRAME, HOP) * self.window))
        power = (spectrum[..., 0] ** 2 + spectrum[..., 1] ** 2).mean(dim=2)
        return torch.log(power @ self.filters + 1e-4).flatten(1)

    def standardize(self, counts: torch.Tensor) -> None:
        """Takes mean and deviation from windows of the healthy machine."""
        logarithms = self.logarithms(counts)
        self.mean, self.scale = logarithms.mean(dim=0), 1 / logarithms.std(dim=0)

    def forward(self, counts: torch.Tensor) -> torch.Tensor:
        return (self.logarithms(counts) - self.mean) * self.scale


class Detector(nn.Module):
    """int16 counts [n, SAMPLES, AXES] to scores, float32 [n]. A score above 1 is an alarm.

    The score is a weighted mean of the autoencoder's squared errors: `weights` divide each by its mean on the
    healthy machine, and all by the limit of the alarm.
    """

    weights: torch.Tensor

    def __init__(self, hidden: int = 64, code: int = 4) -> None:
        super().__init__()
        self.front = FrontEnd()
        self.coder = nn.Sequential(
            nn.Linear(FEATURES, hidden),
            nn.ReLU(),
            nn.Linear(hidden, code),
            nn.Linear(code, hidden),
            nn.ReLU(),
            nn.Linear(hidden, FEATURES),
        )
        self.register_buffer("weights", torch.ones(FEATURES))

    def forward(self, counts: torch.Tensor) -> torch.Tensor:
        features = self.front(counts)
        error = features - self.coder(features)
        scores: torch.Tensor = (error * error * self.weights).mean(dim=-1)
        return scores

    def set_limit(self, counts: torch.Tensor, false_alarms: float) -> None:
        """Sets the weights so that this share of windows of the healthy machine scores above 1."""
        features = self.front(counts)
        error = features - self.coder(features)
        self.weights = 1 / (error * error).mean(dim=0)
        self.weights = self.weights / torch.quantile(self(counts), 1 - false_alarms)

# SPDX-License-Identifier: BSD-3-Clause
"""A voice activity detector that takes one frame of 10 ms a call, or a whole signal at once.

Log-mel features of the last 16 ms, a causal convolution over three frames, a GRU, one probability. `Detector`
computes a signal offline; `Streaming` computes the same frame by frame and keeps the past in buffers: the
samples that windows share, the features that the convolution sees again, and the GRU's state. Needs torch.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import nn

RATE = 16000
FRAME = 160
WINDOW = 256
BANDS = 24
KERNEL = 3
WIDTH = 32
LOWEST, HIGHEST = 60.0, 7600.0


def mel_filters() -> torch.Tensor:
    """[WINDOW / 2 + 1, BANDS]: each column is a triangle over the bins of the spectrum; neighbours meet at
    half height on the mel scale."""

    def mel(hertz: torch.Tensor) -> torch.Tensor:
        return 2595 * torch.log10(1 + hertz / 700)

    low, high = mel(torch.tensor([LOWEST, HIGHEST]))
    position: torch.Tensor = (mel(torch.arange(WINDOW // 2 + 1) * RATE / WINDOW) - low) / (high - low)
    distance = position[:, None] * (BANDS + 1) - torch.arange(1, BANDS + 1)
    # A low band may be narrower than a bin: it takes its nearest one, and so is never empty.
    triangles: torch.Tensor = (1 - distance.abs()).clamp(min=0)
    nearest = distance.abs().argmin(dim=0)
    triangles[nearest, torch.arange(BANDS)] = triangles[nearest, torch.arange(BANDS)].clamp(min=0.25)
    return triangles


class Detector(nn.Module):
    """Samples of a whole signal, int16 [n, frames * FRAME], to the probability of speech in each frame,
    float32 [n, frames]. Before the signal there is silence."""

    window: torch.Tensor
    filters: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(WINDOW) / 32768, persistent=False)
        self.register_buffer("filters", mel_filters(), persistent=False)
        self.conv = nn.Conv1d(BANDS, WIDTH, KERNEL)
        self.gru = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.head = nn.Linear(WIDTH, 1)

    def features(self, windows: torch.Tensor) -> torch.Tensor:
        """Log-mel features [..., BANDS] of windows of samples, float32 [..., WINDOW]. The last two
        operations bring their mean near 0 and their deviation near 1."""
        spectrum = torch.view_as_real(torch.fft.rfft(windows * self.window))
        power = spectrum[..., 0] ** 2 + spectrum[..., 1] ** 2
        return (torch.log(power @ self.filters + 1e-6) + 5) * 0.25

    def offline_features(self, samples: torch.Tensor) -> torch.Tensor:
        """As features(), of all frames of a signal: [n, frames, BANDS]."""
        padded = nn.functional.pad(samples.float(), (WINDOW - FRAME, 0))
        return self.features(padded.unfold(-1, WINDOW, FRAME))

    def logits(self, features: torch.Tensor) -> torch.Tensor:
        """Logits [n, frames] of features [n, frames, BANDS]."""
        silence = self.features(torch.zeros(1, KERNEL - 1, WINDOW)).expand(len(features), -1, -1)
        past = torch.cat([silence, features], dim=1).transpose(1, 2)
        outputs, _ = self.gru(torch.relu(self.conv(past)).transpose(1, 2))
        scores: torch.Tensor = self.head(outputs)[..., 0]
        return scores

    def forward(self, samples: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(self.logits(self.offline_features(samples)))


class Streaming(nn.Module):
    """The detector for one frame a call: samples int16 [1, FRAME] to a probability, float32 [1, 1].

    Its buffers start with silence, and each call writes what the next one needs.
    """

    samples: torch.Tensor
    past: torch.Tensor
    hidden: torch.Tensor

    def __init__(self, detector: Detector) -> None:
        super().__init__()
        self.detector = detector
        self.register_buffer("samples", torch.zeros(1, WINDOW - FRAME))
        with torch.no_grad():
            silence = detector.features(torch.zeros(1, KERNEL - 1, WINDOW)).transpose(1, 2)
        self.register_buffer("past", silence.contiguous())
        self.register_buffer("hidden", torch.zeros(1, 1, WIDTH))

    def forward(self, frame: torch.Tensor) -> torch.Tensor:
        window = torch.cat([self.samples, frame.float()], dim=1)
        features = torch.cat([self.past, self.detector.features(window)[..., None]], dim=2)
        output, hidden = self.detector.gru(
            torch.relu(self.detector.conv(features)).transpose(1, 2), self.hidden
        )
        self.samples.copy_(window[:, FRAME:])
        self.past.copy_(features[:, :, 1:])
        self.hidden.copy_(hidden)
        return torch.sigmoid(self.detector.head(output)[..., 0])


def save(detector: Detector, path: Path) -> None:
    """Writes the weights as an .npz."""
    np.savez(path, **{name: value.numpy() for name, value in detector.state_dict().items()})


def load(path: Path) -> Detector:
    """The detector with the weights of an .npz."""
    detector = Detector()
    with np.load(path) as file:
        detector.load_state_dict({name: torch.from_numpy(file[name]) for name in file.files})
    return detector.eval()

# SPDX-License-Identifier: BSD-3-Clause
"""Resemblyzer's encoder: maps an utterance to a vector that distinguishes speakers."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

FRAMES, CHANNELS, WIDTH = 160, 40, 256


class VoiceEncoder(nn.Module):
    """From mel spectrograms (float32, [n, frames, 40]) to vectors of length 1 ([n, 256])."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(CHANNELS, WIDTH, 3, batch_first=True)
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, mels: torch.Tensor) -> torch.Tensor:
        _, (hidden, _) = self.lstm(mels)
        raw = self.linear(hidden[-1]).relu()
        return raw / torch.linalg.vector_norm(raw, dim=1, keepdim=True)


def load_resemblyzer(path: Path) -> VoiceEncoder:
    """With the weights of the package Resemblyzer."""
    model = VoiceEncoder().eval()
    state = torch.load(path, map_location="cpu", weights_only=True)["model_state"]
    model.load_state_dict({name: state[name] for name in model.state_dict()})
    return model

# SPDX-License-Identifier: BSD-3-Clause
"""A model of which the backend takes a part: convolutions before the dense layers, a softmax behind them."""

from __future__ import annotations

import torch
from torch import nn


class Gestures(nn.Module):
    """Windows of an accelerometer [N, 3, 64], float32, to the probabilities of six gestures [N, 6]."""

    def __init__(self) -> None:
        super().__init__()
        self.near = nn.Conv1d(3, 8, 5, stride=2, padding=2)
        self.far = nn.Conv1d(8, 16, 5, stride=4, padding=2)
        self.mix = nn.Linear(128, 48)
        self.narrow = nn.Linear(48, 24)
        self.gesture = nn.Linear(24, 6)

    def forward(self, windows: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.far(torch.relu(self.near(windows)))).flatten(1)
        x = torch.relu(self.narrow(torch.relu(self.mix(x))))
        return torch.softmax(self.gesture(x), dim=1)


def gestures() -> tuple[nn.Module, tuple[torch.Tensor]]:
    """The model with random weights, and example inputs: a batch of two windows."""
    torch.manual_seed(0)
    return Gestures().eval(), (torch.randn(2, 3, 64),)

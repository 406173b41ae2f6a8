# SPDX-License-Identifier: BSD-3-Clause
"""Networks for small machines, and a recurrent one, with random weights."""

from __future__ import annotations

import sys
from pathlib import Path

from torch import Tensor, nn

sys.path.append(str(Path(__file__).resolve().parents[3] / "tests"))

from support.interop.models import DsCnn, ResNet8, mlp

__all__ = ["DsCnn", "Recurrent", "ResNet8", "autoencoder", "mlp"]


def autoencoder() -> nn.Sequential:
    """Anomaly detection: 640 values through a bottleneck of 8 and back, as in MLPerf Tiny."""
    layers: list[nn.Module] = []
    before = 640
    for width in (128, 128, 128, 128, 8, 128, 128, 128, 128):
        layers += [nn.Linear(before, width), nn.BatchNorm1d(width), nn.ReLU()]
        before = width
    return nn.Sequential(*layers, nn.Linear(before, 640))


class Recurrent(nn.Module):
    """A recurrent layer ("LSTM", "GRU" or "RNN") over all steps of a sequence ([batch, steps, inputs])."""

    def __init__(self, kind: str, inputs: int, hidden: int, layers: int = 1) -> None:
        super().__init__()
        self.layer = getattr(nn, kind)(inputs, hidden, num_layers=layers, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)[0]

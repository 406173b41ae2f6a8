# SPDX-License-Identifier: BSD-3-Clause
"""The three nets of MTCNN, a detector of faces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

# Convolutions as (channels out, kernel) and poolings as a kernel, then the width of the dense layer and
# the outputs: whether there is a face, its box, its landmarks.
_NETS: dict[str, tuple[list[Any], tuple[int, int], tuple[int, ...]]] = {
    "pnet": ([(10, 3), 2, (16, 3), (32, 3)], (0, 0), (2, 4)),
    "rnet": ([(28, 3), 3, (48, 3), 3, (64, 2)], (576, 128), (2, 4)),
    "onet": ([(32, 3), 3, (64, 3), 3, (64, 3), 2, (128, 2)], (1152, 256), (2, 4, 10)),
}


class FaceNet(nn.Module):
    """From images (float32, [n, 3, height, width], in -1 to 1) to probabilities, boxes and landmarks."""

    def __init__(self, name: str) -> None:
        super().__init__()
        layers, (flat, width), outputs = _NETS[name]
        self._steps: list[str] = []
        channels, step = 3, 0
        for layer in layers:
            if isinstance(layer, int):
                self._add(f"pool{step}", nn.MaxPool2d(layer, 2, ceil_mode=True))
                continue
            step += 1
            self._add(f"conv{step}", nn.Conv2d(channels, *layer))
            self._add(f"prelu{step}", nn.PReLU(layer[0]))
            channels = layer[0]
        self._is_dense = width > 0
        if self._is_dense:
            step += 1
            self._dense = f"dense{step}", f"prelu{step}"
            self.add_module(self._dense[0], nn.Linear(flat, width))
            self.add_module(self._dense[1], nn.PReLU(width))
        head = f"dense{step + 1}" if self._is_dense else f"conv{step + 1}"
        self._heads = [f"{head}_{i + 1}" for i in range(len(outputs))]
        for name, size in zip(self._heads, outputs, strict=True):
            made = nn.Linear(width, size) if self._is_dense else nn.Conv2d(channels, size, 1)
            self.add_module(name, made)

    def _add(self, name: str, module: nn.Module) -> None:
        self.add_module(name, module)
        self._steps.append(name)

    def forward(self, images: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x = images
        for name in self._steps:
            x = self.get_submodule(name)(x)
        if self._is_dense:
            x = x.permute(0, 3, 2, 1).flatten(1)
            for name in self._dense:
                x = self.get_submodule(name)(x)
        face, *others = (self.get_submodule(name)(x) for name in self._heads)
        return (face.softmax(dim=1), *others)


def load_mtcnn(name: str, path: Path) -> FaceNet:
    """The net of that name with the weights of a file of the package facenet-pytorch."""
    model = FaceNet(name).eval()
    model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return model

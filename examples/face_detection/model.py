# SPDX-License-Identifier: BSD-3-Clause
"""The three networks of MTCNN, a detector of faces (Zhang et al., "Joint Face Detection and Alignment using
Multi-task Cascaded Convolutional Networks", 2016), for the weights that the package facenet-pytorch carries.

P-Net proposes faces at all positions of a picture, R-Net refines each proposal in 24 × 24 pixels, O-Net each
of what is left in 48 × 48. Needs torch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

NETS: dict[str, tuple[list[Any], tuple[int, int], tuple[int, ...]]] = {
    "pnet": ([(10, 3), 2, (16, 3), (32, 3)], (0, 0), (2, 4)),
    "rnet": ([(28, 3), 3, (48, 3), 3, (64, 2)], (576, 128), (2, 4)),
    "onet": ([(32, 3), 3, (64, 3), 3, (64, 3), 2, (128, 2)], (1152, 256), (2, 4, 10)),
}
"""Convolutions as (output channels, kernel) and max pools as a kernel; inputs and outputs of the dense layer;
sizes of the outputs: face or no face, box, landmarks."""


class FaceNet(nn.Module):
    """float32 images [n, 3, height, width] from -1 to 1, to probabilities, boxes and landmarks.

    Modules have the names of the weights in the package.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        layers, (flat, width), outputs = NETS[name]
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
        for head_name, size in zip(self._heads, outputs, strict=True):
            self.add_module(head_name, nn.Linear(width, size) if width else nn.Conv2d(channels, size, 1))

    def _add(self, name: str, module: nn.Module) -> None:
        self.add_module(name, module)
        self._steps.append(name)

    def forward(self, images: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x = images
        for name in self._steps:
            x = self.get_submodule(name)(x)
        if self._is_dense:
            x = x.permute(0, 3, 2, 1).flatten(1)  # the weights expect pixels before channels
            for name in self._dense:
                x = self.get_submodule(name)(x)
        face, *others = (self.get_submodule(name)(x) for name in self._heads)
        return (face.softmax(dim=1), *others)


def load(name: str, path: Path) -> FaceNet:
    """The network of that name, with the weights of one of the package's files."""
    model = FaceNet(name).eval()
    model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return model

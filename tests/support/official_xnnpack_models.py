# SPDX-License-Identifier: BSD-3-Clause
"""Small networks of the usual kinds, for comparisons with the official runtime."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from support.interop.models import DsCnn, ResNet8, convolution, mlp, small_cnn, with_statistics
from support.official_xnnpack_images import IMAGES
from support.official_xnnpack_sequences import SEQUENCES

IMAGE = (1, 3, 16, 16)


class Attention(nn.Module):
    """One head, of linear layers and matrix products."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(16, 16) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = self.query(x), self.key(x), self.value(x)
        return torch.bmm(torch.softmax(torch.bmm(query, key.transpose(1, 2)) * 0.25, -1), value)


class Mixer(nn.Module):
    """A block of an MLP mixer: over tokens, then over channels."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.channels = mlp(8, 16, 8), mlp(12, 24, 12)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.tokens(x.transpose(1, 2)).transpose(1, 2)
        return x + self.channels(x)


class Gru(nn.Module):
    """A gated recurrent unit over four steps, of linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.hidden = nn.Linear(6, 24), nn.Linear(8, 24)

    def forward(self, x: Tensor, state: Tensor) -> Tensor:
        for step in range(4):
            a, b = self.inside(x[:, step]), self.hidden(state)
            reset = torch.sigmoid(a[:, :8] + b[:, :8])
            update = torch.sigmoid(a[:, 8:16] + b[:, 8:16])
            new = torch.tanh(a[:, 16:] + reset * b[:, 16:])
            state = new - update * new + update * state
        return state


class Lstm(nn.Module):
    """A long short-term memory over three steps, of linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.hidden = nn.Linear(6, 32), nn.Linear(8, 32)

    def forward(self, x: Tensor, state: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        for step in range(3):
            gates = self.inside(x[:, step]) + self.hidden(state)
            cell = torch.sigmoid(gates[:, 8:16]) * cell + torch.sigmoid(gates[:, :8]) * torch.tanh(
                gates[:, 16:24]
            )
            state = torch.sigmoid(gates[:, 24:]) * torch.tanh(cell)
        return state, cell


class DetectionHead(nn.Module):
    """Classes and boxes of two scales, joined."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.down = (
            convolution(3, 8, 3, padding=1, stride=2),
            convolution(8, 8, 3, padding=1, stride=2),
        )
        self.classes, self.boxes = nn.Conv2d(8, 6, 3, padding=1), nn.Conv2d(8, 4, 3, padding=1)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        fine = self.stem(image)
        scales = (fine, self.down(fine))
        classes = [torch.sigmoid(self.classes(x)).flatten(2) for x in scales]
        boxes = [self.boxes(x).flatten(2) for x in scales]
        return torch.cat(classes, 2), torch.cat(boxes, 2)


class UNet(nn.Module):
    """One step down and up again, with the skipped features joined."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = convolution(3, 8, 3, padding=1), convolution(8, 16, 3, padding=1)
        self.up, self.last = nn.ConvTranspose2d(16, 8, 2, stride=2), nn.Conv2d(16, 2, 1)

    def forward(self, image: Tensor) -> Tensor:
        skipped = self.first(image)
        deep = self.second(functional.max_pool2d(skipped, 2))
        return self.last(torch.cat([self.up(deep), skipped], 1))


class SqueezeExcite(nn.Module):
    """Channels scaled by a function of their averages."""

    def __init__(self) -> None:
        super().__init__()
        self.features = convolution(3, 8, 3, padding=1)
        self.squeeze, self.excite = nn.Conv2d(8, 4, 1), nn.Conv2d(4, 8, 1)

    def forward(self, image: Tensor) -> Tensor:
        x = self.features(image)
        scale = functional.relu(self.squeeze(x.mean((2, 3), keepdim=True)))
        return x * torch.sigmoid(self.excite(scale))


class Inverted(nn.Module):
    """MobileNet's inverted residual with a linear bottleneck."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = convolution(3, 8, 3, stride=2, padding=1)
        self.block = nn.Sequential(
            nn.Conv2d(8, 24, 1),
            nn.ReLU6(),
            nn.Conv2d(24, 24, 3, padding=1, groups=24),
            nn.ReLU6(),
            nn.Conv2d(24, 8, 1),
        )
        self.classifier = nn.Linear(8, 5)

    def forward(self, image: Tensor) -> Tensor:
        x = self.stem(image)
        return self.classifier((x + self.block(x)).mean((2, 3)))


def super_resolution() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 12, 3, padding=1), nn.PixelShuffle(2)
    )


def encoder() -> nn.Module:
    return nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[tuple[int, ...], ...]]] = {
    "mlp": (lambda: mlp(20, 32, 16, 5), ((3, 20),)),
    "attention": (Attention, ((2, 5, 16),)),
    "encoder": (encoder, ((2, 5, 16),)),
    "mixer": (Mixer, ((2, 8, 12),)),
    "gru": (Gru, ((2, 4, 6), (2, 8))),
    "lstm": (Lstm, ((2, 3, 6), (2, 8), (2, 8))),
    "detection": (DetectionHead, (IMAGE,)),
    "u-net": (UNet, (IMAGE,)),
    "super resolution": (super_resolution, (IMAGE,)),
    "squeeze-excite": (SqueezeExcite, (IMAGE,)),
    "inverted residual": (Inverted, (IMAGE,)),
    "cnn": (small_cnn, (IMAGE,)),
    "resnet8": (ResNet8, ((1, 3, 32, 32),)),
    "ds-cnn": (DsCnn, ((1, 1, 49, 10),)),
    **IMAGES,
    **SEQUENCES,
}


def model(name: str) -> tuple[nn.Module, tuple[tuple[int, ...], ...]]:
    """A network in inference mode with batch norms as after training, and its inputs' shapes."""
    make, shapes = MODELS[name]
    return with_statistics(make()).eval(), shapes

# SPDX-License-Identifier: BSD-3-Clause
"""The module classes of torch.nn with inputs: from PyTorch's own tests, and defined here for the others."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from support.export.bound import Bound
from support.export.verdicts import Sample
from support.opinfo.pairs import without_stacks

# Classes that are not layers of a model, with the reasons.
LEFT_OUT = {
    "Container": "has no forward",
    "DataParallel": "for several GPUs",
    "Module": "has no forward",
    "ModuleDict": "has no forward",
    "ModuleList": "has no forward",
    "ParameterDict": "has no forward",
    "ParameterList": "has no forward",
    "RNNBase": "has no forward itself",
    "RNNCellBase": "has no forward",
}


class _Unpooled(nn.Module):
    """A pooling and its inverse."""

    def __init__(self, pool: nn.Module, unpool: nn.Module) -> None:
        super().__init__()
        self.pool, self.unpool = pool, unpool

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.unpool(*self.pool(x))


class _Looked(nn.Module):
    """A decoder with its memory input."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
        self.decoder = nn.TransformerDecoder(layer, 2)

    def forward(self, x: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        return self.decoder(x, memory)


def _floats(*shape: int) -> torch.Tensor:
    return torch.randn(shape)


def _image() -> torch.Tensor:
    return _floats(2, 4, 6, 6)


def _volume() -> torch.Tensor:
    return _floats(2, 4, 4, 4, 4)


def _three() -> tuple[torch.Tensor, ...]:
    return _floats(3, 5), _floats(3, 5), _floats(3, 5)


# Class: pairs of a constructor and the inputs.
_OWN: dict[str, list[Callable[[], tuple[nn.Module, tuple[Any, ...]]]]] = {
    "AdaptiveLogSoftmaxWithLoss": [
        lambda: (nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10]), (_floats(3, 8), torch.tensor([1, 7, 15])))
    ],
    "AlphaDropout": [lambda: (nn.AlphaDropout(), (_floats(3, 4),))],
    "ChannelShuffle": [lambda: (nn.ChannelShuffle(2), (_image(),))],
    "CosineSimilarity": [lambda: (nn.CosineSimilarity(dim=1), (_floats(3, 5), _floats(3, 5)))],
    "CrossMapLRN2d": [lambda: (nn.CrossMapLRN2d(3), (_image(),))],
    "Dropout": [lambda: (nn.Dropout(), (_floats(3, 4),))],
    "Dropout1d": [lambda: (nn.Dropout1d(), (_floats(2, 3, 4),))],
    "Dropout2d": [lambda: (nn.Dropout2d(), (_image(),))],
    "Dropout3d": [lambda: (nn.Dropout3d(), (_volume(),))],
    "EmbeddingBag": [
        lambda: (nn.EmbeddingBag(10, 4, mode="mean"), (torch.tensor([[1, 2, 3], [4, 5, 9]]),)),
        lambda: (
            nn.EmbeddingBag(10, 4, mode="sum"),
            (torch.tensor([1, 2, 4, 5, 9]), torch.tensor([0, 2])),
        ),
        lambda: (nn.EmbeddingBag(10, 4, mode="max"), (torch.tensor([[1, 2, 3], [4, 5, 9]]),)),
    ],
    "FeatureAlphaDropout": [lambda: (nn.FeatureAlphaDropout(), (_image(),))],
    "Flatten": [lambda: (nn.Flatten(), (_image(),)), lambda: (nn.Flatten(0, 1), (_image(),))],
    "Fold": [lambda: (nn.Fold((4, 5), (2, 2)), (_floats(2, 12, 12),))],
    "FractionalMaxPool2d": [
        lambda: (
            nn.FractionalMaxPool2d(2, output_ratio=0.5, _random_samples=torch.rand(2, 4, 2)),
            (_image(),),
        )
    ],
    "FractionalMaxPool3d": [
        lambda: (nn.FractionalMaxPool3d(2, output_size=2, _random_samples=torch.rand(2, 4, 3)), (_volume(),))
    ],
    "Hardsigmoid": [lambda: (nn.Hardsigmoid(), (4 * _floats(3, 4),))],
    "Identity": [lambda: (nn.Identity(), (_floats(3, 4),))],
    "LazyBatchNorm1d": [lambda: (nn.LazyBatchNorm1d(), (_floats(2, 3, 4),))],
    "LazyBatchNorm2d": [lambda: (nn.LazyBatchNorm2d(), (_image(),))],
    "LazyBatchNorm3d": [lambda: (nn.LazyBatchNorm3d(), (_volume(),))],
    "LazyInstanceNorm1d": [lambda: (nn.LazyInstanceNorm1d(affine=True), (_floats(2, 3, 4),))],
    "LazyInstanceNorm2d": [lambda: (nn.LazyInstanceNorm2d(affine=True), (_image(),))],
    "LazyInstanceNorm3d": [lambda: (nn.LazyInstanceNorm3d(affine=True), (_volume(),))],
    "LazyLinear": [lambda: (nn.LazyLinear(3), (_floats(2, 4),))],
    "MaxUnpool1d": [
        lambda: (_Unpooled(nn.MaxPool1d(2, return_indices=True), nn.MaxUnpool1d(2)), (_floats(2, 3, 8),))
    ],
    "MaxUnpool2d": [
        lambda: (_Unpooled(nn.MaxPool2d(2, return_indices=True), nn.MaxUnpool2d(2)), (_image(),))
    ],
    "MaxUnpool3d": [
        lambda: (_Unpooled(nn.MaxPool3d(2, return_indices=True), nn.MaxUnpool3d(2)), (_volume(),))
    ],
    "NLLLoss2d": [
        lambda: (nn.NLLLoss(), (_floats(2, 4, 3, 3).log_softmax(1), torch.randint(0, 4, (2, 3, 3))))
    ],
    "PairwiseDistance": [lambda: (nn.PairwiseDistance(), (_floats(3, 5), _floats(3, 5)))],
    "PixelShuffle": [lambda: (nn.PixelShuffle(2), (_image(),))],
    "PixelUnshuffle": [lambda: (nn.PixelUnshuffle(2), (_image(),))],
    "RReLU": [lambda: (nn.RReLU(), (_floats(3, 4),))],
    "Sequential": [lambda: (nn.Sequential(nn.Linear(4, 3), nn.Tanh()), (_floats(2, 4),))],
    "SyncBatchNorm": [lambda: (nn.SyncBatchNorm(4), (_image(),))],
    "TransformerDecoder": [lambda: (_Looked(), (_floats(2, 3, 8), _floats(2, 5, 8)))],
    "TripletMarginLoss": [lambda: (nn.TripletMarginLoss(), _three())],
    "TripletMarginWithDistanceLoss": [lambda: (nn.TripletMarginWithDistanceLoss(), _three())],
    "Unflatten": [lambda: (nn.Unflatten(1, (2, 3)), (_floats(2, 6),))],
    "Unfold": [lambda: (nn.Unfold((2, 3)), (_image(),))],
    "Upsample": [
        lambda mode=mode, shape=shape: (nn.Upsample(scale_factor=2, mode=mode), (_floats(*shape),))
        for mode, shape in [
            ("nearest", (2, 3, 4)),
            ("nearest", (2, 3, 4, 4)),
            ("linear", (2, 3, 4)),
            ("bilinear", (2, 3, 4, 4)),
            ("bicubic", (2, 3, 4, 4)),
            ("trilinear", (1, 2, 3, 3, 3)),
        ]
    ],
    "UpsamplingBilinear2d": [lambda: (nn.UpsamplingBilinear2d(scale_factor=2), (_image(),))],
    "UpsamplingNearest2d": [lambda: (nn.UpsamplingNearest2d(scale_factor=2), (_image(),))],
}


@functools.cache
def class_names() -> list[str]:
    """The testable module classes of torch.nn, in alphabetical order."""
    classes = {
        name for name, found in inspect.getmembers(nn, inspect.isclass) if issubclass(found, nn.Module)
    }
    return sorted(classes - LEFT_OUT.keys())


def samples_of(name: str, count: int) -> Iterator[Sample]:
    """Up to `count` samples of a class, spread over all its samples."""
    torch.default_generator.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in _OWN:
            for make in _spread(_OWN[name], count):
                module, inputs = make()
                yield _sample(module, inputs, {})
            return
        info = _database()[name]
        with without_stacks():
            inputs = info.module_inputs_func(
                info, device="cpu", dtype=torch.float32, requires_grad=False, training=False
            )
        for given in _spread(inputs, count):
            built = given.constructor_input
            module = info.module_cls(*built.args, **built.kwargs)
            yield _sample(module, given.forward_input.args, given.forward_input.kwargs)


def _sample(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sample:
    bound = Bound(module.eval(), args, kwargs).eval()
    bound(*(tensor.clone() for tensor in bound.tensors))  # initializes lazy modules
    return Sample(bound, bound.tensors, {})


def _spread(items: list[Any], count: int) -> list[Any]:
    if count >= len(items):
        return items
    return [items[i * len(items) // count] for i in range(count)]


@functools.cache
def _database() -> dict[str, Any]:
    from torch.testing._internal.common_modules import module_db

    return {info.module_cls.__name__: info for info in module_db}

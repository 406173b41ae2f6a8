# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch import Tensor, nn  # noqa: E402

from rushlight.export.passes.fold_scales import FoldScales  # noqa: E402
from rushlight.export.passes.remove_dead_code import RemoveDeadCode  # noqa: E402
from support.graphs import apply, assert_same, core_aten, operators  # noqa: E402

ROWS, IMAGE = torch.randn(3, 5, 6), torch.randn(2, 6, 5, 4)


class Layer(nn.Module):
    """A function of a layer and of constants."""

    def __init__(self, layer: nn.Module, function: Callable[..., Any], *sizes: int) -> None:
        super().__init__()
        self.layer, self.function = layer, function
        self.scale = nn.Parameter(torch.randn(sizes))

    def forward(self, x: Tensor) -> Any:
        return self.function(self.layer, x, self.scale)


def folded(model: nn.Module, x: Tensor) -> list[str]:
    model = model.eval()
    program = core_aten(model, (x,))
    apply(program, FoldScales(), RemoveDeadCode())
    assert_same(program, model, x, atol=1e-5, rtol=1e-4)
    return operators(program)


def times(layer: nn.Module, x: Tensor, scale: Tensor) -> Tensor:
    return scale * layer(x)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("function", "sizes"),
    [
        (times, [8]),
        (times, [1, 8]),
        (times, []),
        (lambda layer, x, s: layer(x) * 0.5, []),
        (lambda layer, x, s: layer(x) / 8, []),
    ],
)
def test_a_factor_after_a_linear_layer_is_folded(
    function: Callable[..., Any], sizes: list[int], bias: bool
) -> None:
    assert folded(Layer(nn.Linear(6, 8, bias=bias), function, *sizes), ROWS) == ["linear"]


def test_a_number_is_folded_through_views() -> None:
    def function(layer: nn.Module, x: Tensor, _: Tensor) -> Tensor:
        return layer(x).view(3, 5, 2, 4).transpose(1, 2) * 0.25

    assert folded(Layer(nn.Linear(6, 8), function), ROWS) == ["linear", "view_copy", "permute_copy"]


@pytest.mark.parametrize(
    "layer",
    [
        nn.Conv2d(6, 8, 3),
        nn.Conv2d(6, 8, 3, groups=2, bias=False),
        nn.ConvTranspose2d(6, 8, 2, 2),
        nn.ConvTranspose2d(6, 8, 2, 2, groups=2),
    ],
    ids=str,
)
@pytest.mark.parametrize("sizes", [[8, 1, 1], [1, 8, 1, 1], [1]], ids=str)
def test_a_factor_after_a_convolution_is_folded(layer: nn.Module, sizes: list[int]) -> None:
    assert folded(Layer(layer, times, *sizes), IMAGE) == ["convolution"]


def test_a_number_before_a_layer_is_folded() -> None:
    def function(layer: nn.Module, x: Tensor, _: Tensor) -> Tensor:
        return layer(x.sin() * 3)

    assert folded(Layer(nn.Linear(6, 8), function), ROWS) == ["sin", "linear"]
    assert folded(Layer(nn.Conv2d(6, 8, 3, padding=1), function), IMAGE) == ["sin", "convolution"]


@pytest.mark.parametrize(
    ("function", "sizes"),
    [
        (times, [5, 1]),
        (times, [5, 8]),
        (lambda layer, x, s: (layer(x) * 2, layer(x)), []),
        (lambda layer, x, s: layer(x).relu() * 2, []),
        (lambda layer, x, s: layer(x) * x.sum(), []),
        (lambda layer, x, s: layer(x) * x[0, 0, 0], []),
        (lambda layer, x, s: 2 / layer(x), []),
    ],
)
def test_other_products_stay(function: Callable[..., Any], sizes: list[int]) -> None:
    """Factors along other dimensions, values and weights that others read, and no products."""
    found = folded(Layer(nn.Linear(6, 8), function, *sizes), ROWS)
    assert {"mul", "div", "reciprocal"} & set(found)


def test_integers_times_a_fraction_stay() -> None:
    class Counts(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x * 0.5

    assert folded(Counts(), torch.arange(4)) == ["mul"]

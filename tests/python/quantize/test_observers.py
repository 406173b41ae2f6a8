# SPDX-License-Identifier: BSD-3-Clause
"""Observers alone: the ranges that they find."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")

from torchao.quantization.pt2e import HistogramObserver  # noqa: E402

from rushlight.quantize import Static  # noqa: E402
from rushlight.quantize.observers import GroupedWeightObserver, RangeObserver  # noqa: E402
from rushlight.quantize.specs import Specs  # noqa: E402


@pytest.mark.parametrize(("quant_min", "quant_max"), [(-8, 7), (-128, 127), (-2, 1)])
@pytest.mark.parametrize("group_size", [8, None])
def test_no_weight_is_cut_off_at_either_end(quant_min: int, quant_max: int, group_size: int | None) -> None:
    """Each is half a step off at most, the largest and the smallest of a group too."""
    weight = torch.randn(6, 32, generator=torch.Generator().manual_seed(0))
    weight[0, 0], weight[1, 1] = 9.0, -9.0
    observer = GroupedWeightObserver(torch.int8, quant_min, quant_max, group_size)
    observer(weight)
    scale, zero_point = observer.calculate_qparams()
    assert not zero_point.any() and scale.shape == (6, 32 // (group_size or 32))
    step = scale.repeat_interleave(32 // scale.shape[1], dim=1)
    quantized = (weight / step).round().clamp(quant_min, quant_max)
    assert ((quantized * step - weight).abs() <= step * 0.5001).all()


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("symmetric", [False, True])
def test_symmetric_activations_reach_as_far_below_zero_as_above(symmetric: bool, training: bool) -> None:
    spec = Specs(Static(symmetric_activations=symmetric), training).activation()
    assert spec is not None and spec.quant_max == 127
    assert spec.quant_min == (-127 if symmetric else -128)
    assert (spec.qscheme == torch.per_tensor_symmetric) == symmetric


ACTIVATIONS = {
    "normal": lambda x: x,
    "skewed": lambda x: x.exp(),
    "rectified": lambda x: x.relu(),
    "far": lambda x: x * 1e-3 + 100,
    "outliers": lambda x: x**5,
    "few": lambda x: (x * 2).round(),
    "negative": lambda x: -x.abs().sqrt(),
    "tiny": lambda x: x[:3] * 1e-30,
    "equal": lambda x: torch.full_like(x, 0.5),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_range_is_the_one_that_torchao_finds(name: str) -> None:
    generator = torch.Generator().manual_seed(3)
    own, official = RangeObserver(eps=2.0**-12), HistogramObserver(eps=2.0**-12)
    for _ in range(3):
        x = ACTIVATIONS[name](torch.randn(700, generator=generator))
        own(x)
        official(x)
        found, expected = own._non_linear_param_search(), official._non_linear_param_search()
        assert [float(each) for each in found] == [float(each) for each in expected]
    assert all(map(torch.equal, own.calculate_qparams(), official.calculate_qparams()))

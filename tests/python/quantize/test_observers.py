# SPDX-License-Identifier: BSD-3-Clause
"""What observers find, by itself."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")

from rushlight.quantize import Static  # noqa: E402
from rushlight.quantize.observers import GroupedWeightObserver  # noqa: E402
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

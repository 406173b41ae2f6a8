# SPDX-License-Identifier: BSD-3-Clause
"""Ranges of a quantized graph: what was seen, what the integers cover, and the picture."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")

from torch import nn  # noqa: E402

from rushlight.errors import InvalidArgument  # noqa: E402
from rushlight.quantize import RushlightQuantizer, Static, WeightOnly, quantize, ranges  # noqa: E402
from rushlight.quantize.ranges import TensorRange  # noqa: E402


def model() -> tuple[nn.Module, list[tuple[torch.Tensor]]]:
    """One linear layer, and inputs of which one number is far from the others."""
    torch.manual_seed(0)
    inputs = [(torch.randn(64, 8),) for _ in range(4)]
    inputs[2][0][3, 5] = 40.0
    return nn.Sequential(nn.Linear(8, 4)).eval(), inputs


def test_ranges_tell_what_was_seen_and_what_integers_cover() -> None:
    module, inputs = model()
    found = ranges(quantize(module, inputs[0], inputs, RushlightQuantizer(Static(ranges="minmax"))))
    x, weight, y = sorted(found.tensors, key=lambda each: (each.name == "linear", each.is_weight))
    assert (x.low, x.high) == (pytest.approx(min(float(i[0].min()) for i in inputs)), 40.0)
    assert x.first <= x.low + x.scale
    assert x.last >= 40.0 - x.scale
    assert x.last - x.first == pytest.approx(255 * x.scale, rel=1e-5)
    assert x.clipped == 0
    assert weight.is_weight
    assert (weight.module, y.module) == ("0", "0")
    widths = module[0].weight.abs().amax(1)
    assert weight.spread == pytest.approx(float(widths.max() / widths.min()), rel=1e-5)
    assert sum(weight.histogram) == 8 * 4


def test_a_histogram_counts_all_numbers_that_were_seen() -> None:
    module, inputs = model()
    found = ranges(quantize(module, inputs[0], inputs))
    [x] = [each for each in found.tensors if each.high == 40.0]
    assert sum(x.histogram) == pytest.approx(4 * 64 * 8)
    assert x.histogram[-1] == pytest.approx(1)


def test_numbers_outside_of_the_range_are_counted_as_clipped() -> None:
    told = {"name": "x", "module": "", "is_weight": False, "low": -4.0, "high": 4.0, "scale": 1 / 64}
    flat = (1.0,) * 64
    assert TensorRange(**told, first=-4.0, last=4.0, histogram=flat).clipped == 0
    assert TensorRange(**told, first=-2.0, last=2.0, histogram=flat).clipped == pytest.approx(0.5, abs=1 / 16)
    assert TensorRange(**told, first=-2.0, last=2.0).clipped == 0


def test_the_page_has_a_picture_of_each_tensor() -> None:
    module, inputs = model()
    found = ranges(quantize(module, inputs[0], inputs))
    page = found.page()
    assert page.count("<svg") == len(found.tensors) == 3
    assert "nan" not in page.lower()
    assert [each["name"] for each in found.to_json()] == [each.name for each in found.tensors]


@pytest.mark.parametrize("scheme", [WeightOnly(), None])
def test_a_graph_without_ranges_is_refused(scheme) -> None:
    module, inputs = model()
    graph = quantize(module, inputs[0], inputs, RushlightQuantizer(scheme))
    assert ranges(graph).tensors == ()
    with pytest.raises(InvalidArgument, match=r"expected a graph from rushlight\.quantize"):
        ranges(torch.fx.symbolic_trace(module))

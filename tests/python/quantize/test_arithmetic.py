# SPDX-License-Identifier: BSD-3-Clause
"""The report of an export: which operators of a quantized graph compute in integers, and why others not."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")

from torch import nn  # noqa: E402

import rushlight  # noqa: E402
from rushlight.export.arithmetic import Arithmetic  # noqa: E402
from rushlight.quantize import Dynamic, RushlightQuantizer, Static, WeightOnly, quantize  # noqa: E402


class Totals(nn.Module):
    """Has no form on integers."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.cumsum(-1)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.totals, self.first, self.last = Totals(), nn.Linear(32, 32), nn.Linear(32, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.totals(self.last(torch.relu(self.first(x))))


def rows(scheme: object, **options: str) -> dict[str, Arithmetic]:
    """By the operators' names."""
    module, x = Net().eval(), torch.randn(4, 32)
    graph = module if scheme is None else quantize(module, (x,), [(x,)], RushlightQuantizer(scheme))
    found = rushlight.export(graph, (x,), **options).report.methods[0].arithmetic
    return {row.operator.partition("::")[2]: row for row in found}


def test_calls_in_integers_are_counted_and_the_others_have_reason_module_and_line() -> None:
    found = rows(Static())
    assert found["quantized_linear"] == Arithmetic("rushlight::quantized_linear", integers=True, calls=2)
    totals = found["cumsum"]
    assert (totals.integers, totals.reason) == (False, "its result is not quantized")
    assert "totals" in totals.module
    assert totals.line.rpartition(":")[2].isdigit()


@pytest.mark.parametrize(
    ("scheme", "operator", "reason"),
    [
        (Dynamic(), "relu", "its inputs are floats"),
        (WeightOnly(), "weight_only_linear", "only its weights are quantized"),
        (WeightOnly(bits=4, group_size=8), "cumsum", "its inputs are floats"),
    ],
)
def test_schemes_with_float_activations_say_so(scheme, operator: str, reason: str) -> None:
    assert rows(scheme)[operator].reason == reason


def test_layers_that_quantize_their_inputs_compute_in_integers() -> None:
    assert rows(Dynamic())["dynamic_linear"] == Arithmetic(
        "rushlight::dynamic_linear", integers=True, calls=2
    )


def test_a_runtime_without_integer_operators_computes_in_float() -> None:
    found = rows(Static(), runtime="executorch")
    assert not found["linear"].integers
    assert found["linear"].reason


def test_a_float_model_has_no_such_report() -> None:
    assert rows(None) == {}

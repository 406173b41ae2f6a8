# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import math

import pytest
import torch
from torch.nn.functional import relu6

from rushlight.export.passes import PassContext
from rushlight.export.passes.common_subexpressions import CommonSubexpressions
from rushlight.export.passes.fuse import Fuse, Op, Rule, Var
from support.graphs import LIBRARY, apply, assert_same, core_aten, operators

X = torch.randn(4, 8) * 4

FUSED = {
    "x * sigmoid(x)": (lambda x: x * torch.sigmoid(x), "silu"),
    "sigmoid(x) * x": (lambda x: torch.sigmoid(x) * x, "silu"),
    "x * relu6(x + 3) / 6": (lambda x: x * relu6(x + 3) / 6, "hardswish"),
    "x * (relu6(3 + x) / 6)": (lambda x: x * (relu6(3 + x) / 6), "hardswish"),
    "x * clamp(x + 3, 0, 6) / 6": (lambda x: x * torch.clamp(x + 3.0, 0, 6) / 6.0, "hardswish"),
    "relu6(x + 3) / 6": (lambda x: relu6(x + 3) / 6, "hardsigmoid"),
    "GELU by tanh": (
        lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0)))),
        "gelu",
    ),
    "GELU by tanh of products": (
        lambda x: 0.5 * x * (1 + torch.tanh(x * 0.7978845608 * (1 + 0.044715 * x * x))),
        "gelu",
    ),
    "GELU by tanh, halved last": (
        lambda x: x * (0.5 * (torch.tanh((x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)) + 1)),
        "gelu",
    ),
    "GELU by erf": (lambda x: x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0))), "gelu"),
    "GELU by erf of a product": (lambda x: x * (torch.erf(x * math.sqrt(0.5)) + 1) * 0.5, "gelu"),
}


@pytest.mark.parametrize("name", FUSED)
def test_a_pattern_becomes_the_operator_of_that_meaning(name: str) -> None:
    function, expected = FUSED[name]
    program = core_aten(lambda x: function(x.sin()), (X,))
    assert apply(program, Fuse())
    assert operators(program) == ["sin", expected]
    assert_same(program, lambda x: function(x.sin()), X)


UNLIKE = {
    "another operand": lambda x: x * torch.sigmoid(x + 1),
    "another bend": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.05 * x**3))),
    "half of another tensor": lambda x: 0.5 * x.cos() * (1 + torch.erf(x / math.sqrt(2))),
    "another number": lambda x: x * relu6(x + 2) / 6,
    "another scale": lambda x: x * relu6(x + 3) / 5,
    "broadcast": lambda x: x[:1] * torch.sigmoid(x),
    "read by others": lambda x: (x * torch.sigmoid(x), torch.sigmoid(x).sum()),
    "scaled addition": lambda x: relu6(torch.add(x, 3, alpha=2)) / 6,
}


@pytest.mark.parametrize("name", UNLIKE)
def test_what_is_not_the_pattern_stays(name: str) -> None:
    program = core_aten(UNLIKE[name], (X,))
    apply(program, CommonSubexpressions())
    assert not apply(program, Fuse())
    assert_same(program, UNLIKE[name], X)


@pytest.mark.parametrize("dtypes", [None, ["float32"]])
def test_a_rule_waits_for_its_operator_in_the_dtype(dtypes: list[str] | None) -> None:
    program = core_aten(FUSED["x * sigmoid(x)"][0], (X,))
    context = PassContext(LIBRARY.without("aten::silu.out", dtypes))
    assert not Fuse().run(program, context)
    assert operators(program) == ["sigmoid", "mul"]


def test_a_library_brings_rules_of_its_own() -> None:
    rule = Rule(
        "a + b * c",
        Op("aten::add", (Var("a"), Op("aten::mul", (Var("b"), Var("c")))), commutes=True),
        torch.ops.aten.addcmul.default,
        ("a", "b", "c"),
    )

    def function(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        return (b * c + a).sin()

    args = (torch.randn(3), torch.randn(3), torch.randn(3))
    program = core_aten(function, args)
    apply(program, Fuse([rule]))
    assert operators(program) == ["addcmul", "sin"]
    assert_same(program, function, *args)

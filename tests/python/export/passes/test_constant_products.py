# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from rushlight.export.passes import PassContext
from rushlight.export.passes.constant_products import ConstantProducts
from rushlight.export.passes.remove_dead_code import RemoveDeadCode
from support.graphs import LIBRARY, Fn, apply, assert_same, core_aten, operators

X = torch.randn(3, 4, 6)
W, B = torch.randn(6, 5), torch.randn(5)

LINEAR: dict[str, Callable[..., Any]] = {
    "of rows": lambda x, w, b: x[0] @ w,
    "all dimensions but the last": lambda x, w, b: x @ w,
    "with a sum": lambda x, w, b: x @ w + b,
    "with a sum in front": lambda x, w, b: b + x[0] @ w,
    "addmm": lambda x, w, b: torch.addmm(b, x[1], w),
    "as GPT-2 has it": lambda x, w, b: torch.addmm(b, x.view(-1, 6), w).view(3, 4, 5),
}


@pytest.mark.parametrize("name", LINEAR)
def test_a_product_with_a_constant_is_a_linear_layer(name: str) -> None:
    model = Fn(LINEAR[name], w=W, b=B)
    program = core_aten(model, (X,))
    assert apply(program, ConstantProducts(), RemoveDeadCode())
    assert [each for each in operators(program) if each != "select_copy"] == ["linear"]
    (node,) = (n for n in program.graph.nodes if n.op == "call_function" and "linear" in str(n.target))
    assert node.args[1].meta["val"].shape == (5, 6)
    assert_same(program, model, X)


STAYING: dict[str, Callable[..., Any]] = {
    "a weight that others read": lambda x, w, b: (x @ w, w * x.sum()),
    "a sum of another shape": lambda x, w, b: torch.addmm(b[:1], x[0], w),
    "a scaled sum": lambda x, w, b: torch.addmm(b, x[0], w, alpha=2),
    "no constant": lambda x, w, b: x[0] @ x[1].T,
}


@pytest.mark.parametrize("name", STAYING)
def test_other_products_stay(name: str) -> None:
    model = Fn(STAYING[name], w=W, b=B)
    program = core_aten(model, (X,))
    apply(program, ConstantProducts())
    assert "linear" not in operators(program)
    assert_same(program, model, X)


def test_sizes_may_be_symbols() -> None:
    model = Fn(lambda x, w, b: (x @ w + b).relu(), w=W, b=B)
    program = core_aten(model, (X,), {"args": ({0: torch.export.Dim("n", max=9)},)})
    assert apply(program, ConstantProducts(), RemoveDeadCode())
    assert_same(program, model, torch.randn(7, 4, 6))


def test_the_official_runtime_keeps_its_operators() -> None:
    program = core_aten(Fn(LINEAR["of rows"], w=W, b=B), (X,))
    assert not ConstantProducts().run(program, PassContext(LIBRARY.without("rushlight::linear_act.out")))

# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import time
from typing import Any

import pytest
import torch
from torch import nn

from rushlight.export.graph.constants import is_lifted
from rushlight.export.passes.common_subexpressions import CommonSubexpressions
from support.graphs import Fn, apply, assert_same, core_aten, operators

X = torch.randn(2, 3)


def merged(function: Any, *args: Any, **tensors: torch.Tensor) -> Any:
    module = function if isinstance(function, nn.Module) else Fn(function, **tensors)
    program = core_aten(module, args)
    apply(program, CommonSubexpressions())
    assert_same(program, module, *args)
    return program


def constants(program: Any) -> list[str]:
    return [str(s.target) for s in program.graph_signature.input_specs if is_lifted(s)]


def test_the_same_operator_of_the_same_arguments_is_called_once() -> None:
    program = merged(lambda x: (x.sin() + 1) * (x.sin() + 1), X)
    assert operators(program) == ["sin", "add", "mul"]


def test_outputs_may_become_the_same() -> None:
    program = merged(lambda x: (x.sin(), x.sin()), X)
    assert operators(program) == ["sin"]


def test_parts_of_the_same_result_are_the_same() -> None:
    program = merged(lambda x: x.max(1)[0] + x.max(1)[0], X)
    assert operators(program) == ["max", "getitem", "add"]


DIFFERENT = {
    "dtype of a number": lambda x: (x.int() * 1, x.int() * 1.0, x.int() * True),
    "sign of zero": lambda x: (torch.copysign(x, 0.0), torch.copysign(x, -0.0)),
    "keyword": lambda x: (x.sum(1), x.sum(1, keepdim=True)),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs_stays_apart(name: str) -> None:
    program = core_aten(DIFFERENT[name], (X,))
    calls = [n for n in operators(program) if n not in ("_to_copy", "scalar_tensor")]
    apply(program, CommonSubexpressions())
    assert [n for n in operators(program) if n not in ("_to_copy", "scalar_tensor")] == calls
    assert_same(program, DIFFERENT[name], X)


def test_random_numbers_are_drawn_each_time() -> None:
    program = core_aten(lambda x: (torch.rand_like(x), torch.rand_like(x)), (X,))
    assert not apply(program, CommonSubexpressions())


def test_equal_constants_are_stored_once() -> None:
    table = torch.tensor([[0.0, -0.0, float("nan")]])
    program = merged(lambda x, a, b: (x + a, x - b), X, a=table, b=table.clone())
    assert constants(program) == ["a"]
    program = merged(lambda x, a, b: (x + a, x - b), X, a=table, b=table.abs())
    assert constants(program) == ["a", "b"]


def test_constants_of_another_dtype_or_shape_stay() -> None:
    zero = torch.zeros(3)
    program = merged(lambda x, a, b, c: (x + a, x + b, x + c), X, a=zero, b=zero.int(), c=zero.view(1, 3))
    assert constants(program) == ["a", "b", "c"]


def test_constants_that_differ_in_one_element_stay() -> None:
    a = torch.randn(7, 9)
    b = a.clone()
    b[3, 5] += 1
    program = merged(lambda x, a, b: x.sum() + a + b, X, a=a, b=b)
    assert constants(program) == ["a", "b"]


def test_complex_and_half_constants_are_compared_too() -> None:
    a = torch.randn(3, dtype=torch.complex64)
    program = merged(lambda x, a, b: (x + a, x - b), X, a=a, b=a.clone())
    assert constants(program) == ["a"]
    program = merged(lambda x, a, b: (x + a, x - b), X, a=X.half(), b=X.half())
    assert constants(program) == ["a"]


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(16, 4)
        self.head = nn.Linear(4, 16, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.embedding(x))


def test_tied_weights_are_stored_once() -> None:
    program = merged(Tied(), torch.tensor([1, 2, 3]))
    assert len(constants(program)) == 1


class TwoCounters(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("a", torch.zeros(3))
        self.register_buffer("b", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.a.add_(x)
        return self.a + self.b


def test_buffers_that_change_are_not_merged() -> None:
    program = core_aten(TwoCounters(), (torch.randn(3),))
    assert not apply(program, CommonSubexpressions())
    assert constants(program) == ["a", "b"]


def test_a_branch_is_searched_by_itself() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda y: y.sin() * y.sin(), lambda y: y.cos(), (x,)) + x.sin()

    program = merged(function, X)
    inner = program.graph_module.true_graph_0.graph
    assert [n.name for n in inner.nodes if n.op == "call_function"] == ["sin", "mul"]
    assert operators(program)[-2:] == ["sin", "add"]


def test_many_equal_shapes_take_no_time() -> None:
    tensors = {f"t{i}": torch.full((64, 64), float(i)) for i in range(300)}
    program = core_aten(Fn(lambda x, **named: sum(named.values()) + x, **tensors), (torch.randn(64, 64),))
    start = time.process_time()
    apply(program, CommonSubexpressions())
    assert time.process_time() - start < 2
    assert len(constants(program)) == 300

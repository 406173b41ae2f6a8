# SPDX-License-Identifier: BSD-3-Clause
"""Cached decompositions give the same results as PyTorch's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch.export import exported_program  # noqa: E402

from support import quick_decompositions  # noqa: E402
from support.quick_decompositions import once_collected, once_made  # noqa: E402

aten = torch.ops.aten


class Layers(torch.nn.Module):
    """Calls composite operators: linear, silu, matmul, a norm."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.norm = torch.nn.Linear(4, 6), torch.nn.RMSNorm(6)

    def forward(self, x: Any) -> Any:
        return torch.matmul(self.norm(torch.nn.functional.silu(self.linear(x))), torch.ones(6, 3))


@pytest.fixture
def original(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """PyTorch's own function, which is restored during the test."""
    quick_decompositions.install()
    own = exported_program._override_composite_implicit_decomp.original
    monkeypatch.setattr(exported_program, "_override_composite_implicit_decomp", own)
    yield own


def tables() -> list[Any]:
    """Three tables: everything is decomposed, linear is kept, and only a rule of the caller for it."""
    whole = dict(torch.export.default_decompositions())
    del whole[aten.linear.default]
    return [
        torch.export.default_decompositions(),
        whole,
        {aten.linear.default: lambda x, w, b: x @ w.t() - b},
    ]


def decomposed(program: Any, table: Any) -> tuple[list[str], Any]:
    """The operators of the decomposed program, and their outputs."""
    made = program.run_decompositions(table)
    x = torch.linspace(-1, 1, 8).reshape(2, 4)
    names = [str(node.target) for node in made.graph.nodes if node.op == "call_function"]
    return names, made.module()(x)


def test_graphs_are_the_same(original: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    program = torch.export.export(Layers().eval(), (torch.ones(2, 4),))
    expected = [decomposed(program, table) for table in tables()]
    assert len({tuple(names) for names, _ in expected}) == 3
    asked: list[int] = []

    def counted(rules: dict[Any, Any]) -> Any:
        asked.append(len(rules))
        return original(rules)

    monkeypatch.setattr(exported_program, "_override_composite_implicit_decomp", once_made(counted))
    # The second round has all prepared, but for the rule that is made anew.
    for _ in range(2):
        for table, (names, value) in zip(tables(), expected, strict=True):
            found, other = decomposed(program, table)
            assert found == names and torch.equal(other, value)
    assert asked[0] > 100 and asked[3:] == [0, 0, 1]


def test_operators_are_as_they_were_afterwards(original: Callable[..., Any]) -> None:
    rule = lambda x: x * 2  # noqa: E731
    override, operator = once_made(original), aten.linear.default
    before = dict(operator.py_kernels)
    for _ in range(3):
        with override({operator: rule}):
            assert operator.py_kernels[torch._C.DispatchKey.CompositeImplicitAutograd] is rule
        assert operator.py_kernels == before


def test_kernels_that_come_later_are_seen(original: Callable[..., Any]) -> None:
    override, operator = once_made(original), aten.linear.default
    key = torch._C.DispatchKey.AutogradCUDA
    for _ in range(2):
        with override({operator: lambda x: x}):
            pass
    operator.py_impl(key)(own := lambda x: x + 1)
    try:
        with override({operator: lambda x: x}):
            assert operator.py_kernels[key] is own
    finally:
        del operator.py_kernels[key]
        operator._dispatch_cache.clear()


def test_operators_that_come_later_are_collected() -> None:
    collect = once_collected(lambda: set(range(len(torch._C._dispatch_get_all_op_names()))))
    before = collect()
    assert collect() is before
    with torch.library._scoped_library("quick_decompositions", "DEF") as library:
        library.define("later(Tensor x) -> Tensor")
        assert len(collect()) == len(before) + 1

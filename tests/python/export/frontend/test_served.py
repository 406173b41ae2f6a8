# SPDX-License-Identifier: BSD-3-Clause
"""Operators and dtypes without a kernel are exported on request, for rushlight.load(..., fallback="aten")."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import rushlight  # noqa: E402
from rushlight.errors import InvalidArgument, NotExportable, OperatorNotFound  # noqa: E402
from rushlight.export.frontend.served import served_row  # noqa: E402
from rushlight.program import operator_uses, read_program  # noqa: E402

aten = torch.ops.aten
LIBRARY = torch.library.Library("rushlight_served_test", "FRAGMENT")


class Calls(torch.nn.Module):
    """A module that calls a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def exported(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    return rushlight.export(Calls(function), args, fallback="aten", **options)


def define(schema: str, function: Any, fake: Any) -> None:
    LIBRARY.define(schema)
    name = schema.partition("(")[0]
    LIBRARY.impl(name, function, "CompositeExplicitAutograd")
    torch.library.register_fake(f"rushlight_served_test::{name}", fake, lib=LIBRARY)


def test_an_operator_without_a_kernel_is_exported_on_request() -> None:
    def call(x: Any) -> Any:
        return torch.hash_tensor(x)

    given = torch.arange(6.0)
    with pytest.raises(NotExportable, match=r'hash_tensor.*fallback="aten" in export and load'):
        rushlight.export(Calls(call), (given,))
    made = exported(call, given)
    assert "aten::hash_tensor.out" in operator_uses(read_program(bytes(made.buffer)))
    with pytest.raises(OperatorNotFound):
        rushlight.load(made.buffer).forward(given)
    loaded = rushlight.load(made.buffer, fallback="aten")
    [got] = loaded.forward(given)
    assert torch.equal(got, call(given))
    assert loaded.fallback_operators == {"aten::hash_tensor.out": 1}


def test_operators_with_kernels_stay_ours_and_others_are_decomposed() -> None:
    made = exported(lambda x: torch.nn.functional.silu(x).sin(), torch.ones(3))
    loaded = rushlight.load(made.buffer, fallback="aten")
    loaded.forward(torch.ones(3))
    assert loaded.fallback_operators == {}


def test_an_operator_is_kept_whole_on_request() -> None:
    def call(a: Any, b: Any) -> Any:
        return torch.cdist(a, b)

    args = torch.randn(3, 2), torch.randn(4, 2)
    made = exported(call, *args, keep=[aten.cdist.default])
    assert "aten::cdist.out" in operator_uses(read_program(bytes(made.buffer)))
    [got] = rushlight.load(made.buffer, fallback="aten").forward(*args)
    assert torch.equal(got, call(*args))


def test_a_dtype_without_a_kernel_is_exported_on_request() -> None:
    given = torch.tensor([1 + 2j, float("nan"), 3], dtype=torch.complex64)
    keep = [aten.nan_to_num.default]
    with pytest.raises(NotExportable, match="nan_to_num"):
        rushlight.export(Calls(torch.nan_to_num), (given,), keep=keep)
    made = exported(torch.nan_to_num, given, keep=keep)
    loaded = rushlight.load(made.buffer, fallback="aten")
    assert torch.equal(loaded.forward(given)[0], torch.nan_to_num(given))
    assert loaded.fallback_operators == {"aten::nan_to_num.out": 1}


def test_a_custom_operator_needs_no_out_overload() -> None:
    define(
        "split_sign(Tensor x) -> (Tensor, Tensor)",
        lambda x: (x.clamp(min=0), x.clamp(max=0)),
        lambda x: (torch.empty_like(x), torch.empty_like(x)),
    )
    given = torch.randn(5)
    made = exported(lambda x: torch.ops.rushlight_served_test.split_sign(x), given)
    got = rushlight.load(made.buffer, fallback="aten").forward(given)
    assert torch.equal(got[0], given.clamp(min=0))
    assert torch.equal(got[1], given.clamp(max=0))


def test_dynamic_shapes_are_kept() -> None:
    define("reversed(Tensor x) -> Tensor", lambda x: x.flip(0), torch.empty_like)
    size = torch.export.Dim("size", max=8)
    made = rushlight.export(
        Calls(torch.ops.rushlight_served_test.reversed),
        (torch.randn(4),),
        dynamic_shapes=(({0: size},),),
        fallback="aten",
    )
    loaded = rushlight.load(made.buffer, fallback="aten")
    for count in (8, 2, 5):
        given = torch.randn(count)
        assert torch.equal(loaded.forward(given)[0], given.flip(0))


def test_a_result_without_a_bound_is_refused() -> None:
    define(
        "some(Tensor x) -> Tensor",
        lambda x: x[x > 0],
        lambda x: x.new_empty(torch.library.get_ctx().new_dynamic_size()),
    )
    with pytest.raises(NotExportable, match="upper bound"):
        exported(lambda x: torch.ops.rushlight_served_test.some(x), torch.randn(4))


class Scribbles(torch.nn.Module):
    """Calls an operator that writes an optional argument, which its schema does not tell."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> Any:
        return torch.ops.rushlight_served_test.scribble(x, self.state)


def test_constants_stay_as_they_are_whatever_an_operator_writes(tmp_path: Path) -> None:
    define(
        "scribble(Tensor x, Tensor? y) -> Tensor",
        lambda x, y: x + y.add_(1),
        lambda x, y: torch.empty_like(x),
    )
    path = tmp_path / "model.pte"
    rushlight.export(Scribbles(), (torch.ones(4),), fallback="aten").save(path)
    before = path.read_bytes()
    loaded = rushlight.load(path, fallback="aten")  # its constants are mapped read-only
    for _ in range(2):
        assert torch.equal(loaded.forward(torch.ones(4))[0], torch.full((4,), 2.0))
    assert path.read_bytes() == before


def test_operators_that_programs_cannot_call_are_refused() -> None:
    assert served_row(aten.equal.default) is None  # returns a bool
    assert served_row(aten._foreach_add.ScalarList) is None
    row = served_row(aten.hash_tensor.default)
    assert row is not None
    assert row.name == "aten::hash_tensor.out"


def test_other_fallbacks_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="fallback: expected None or 'aten', got 'torch'"):
        rushlight.export(Calls(torch.sin), (torch.ones(1),), fallback="torch")

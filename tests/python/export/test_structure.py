# SPDX-License-Identifier: BSD-3-Clause
"""Inputs and outputs of every structure that PyTorch flattens."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch import Tensor, nn  # noqa: E402

from support.export.exported import check_export, run_ours  # noqa: E402

Pair = namedtuple("Pair", ["left", "right"])
X, Y = torch.arange(6.0).reshape(2, 3), torch.linspace(-1, 1, 6).reshape(2, 3)


class Calls(nn.Module):
    """A function as a module."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


class Named(nn.Module):
    """Takes keyword-only arguments, two of them optional."""

    def forward(self, x: Tensor, *, minus: Tensor, scale: float = 2.0, plus: Tensor | None = None) -> Tensor:
        result = (x - minus) * scale
        return result if plus is None else result + plus


class InDict(nn.Module):
    def forward(self, given: dict[str, Tensor]) -> dict[str, Any]:
        return {"sum": given["b"] + given["a"], "parts": [given["a"] * 2, (given["b"] - 1,)]}


class InNested(nn.Module):
    def forward(self, given: tuple[list[Tensor], dict[str, tuple[Tensor, Tensor]]]) -> Tensor:
        items, named = given
        return items[0] * named["p"][1] + items[1] * named["p"][0]


class InPair(nn.Module):
    def forward(self, pair: Any) -> Any:
        return Pair(pair.right + 1, pair.left * 2)


def test_a_dict_goes_in_and_comes_out() -> None:
    check_export(InDict(), ({"b": X, "a": Y},), more=[({"b": Y, "a": X},)])


def test_nested_lists_and_tuples_go_in() -> None:
    check_export(InNested(), (([X, Y], {"p": (Y, X)}),))


def test_a_namedtuple_goes_in_and_comes_out() -> None:
    check_export(InPair(), (Pair(X, Y),))


def test_an_ordered_dict_comes_out_in_its_order() -> None:
    check_export(Calls(lambda x: OrderedDict(z=x + 1, a=x * 2)), (X,))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.max(x, dim=1),
        lambda x: torch.topk(x, 2),
        lambda x: torch.sort(x, dim=0),
        lambda x: {"best": torch.max(x, 1), "all": (torch.min(x, 0), x)},
    ],
    ids=["max", "topk", "sort", "inside of a dict"],
)
def test_return_types_of_torch_come_out(function: Any) -> None:
    check_export(Calls(function), (X,), more=[(-X,)])


def test_keywords_are_inputs_in_the_order_of_the_example() -> None:
    check_export(Named(), (X,), {"minus": Y})
    check_export(Named(), (X,), {"minus": Y, "plus": X})


def test_none_among_the_outputs_stays_none() -> None:
    checked = check_export(Calls(lambda x: (None, x + 1, None)), (X,))
    [outputs] = run_ours(checked.exported.buffer, [[X]])
    assert outputs[0] is None and outputs[2] is None


def test_none_among_the_inputs_is_taken() -> None:
    class Optional(nn.Module):
        def forward(self, x: Tensor, bias: Tensor | None, y: Tensor) -> Tensor:
            return x * y if bias is None else x * y + bias

    check_export(Optional(), (X, None, Y))
    check_export(Optional(), (X, Y, Y))


@pytest.mark.parametrize("value", [3, 2.5, True], ids=["int", "float", "bool"])
def test_a_number_of_the_example_is_part_of_the_program(value: float) -> None:
    check_export(Calls(lambda x, n: x * n), (X, value))


@pytest.mark.parametrize("value", [3, 2.5, True, "text"], ids=["int", "float", "bool", "string"])
def test_constants_come_out(value: Any) -> None:
    checked = check_export(Calls(lambda x: (x + 1, value)), (X,))
    [outputs] = run_ours(checked.exported.buffer, [[X]])
    assert outputs[1] == value


def test_an_input_is_an_output() -> None:
    check_export(Calls(lambda x, y: (y, x, x + y)), (X, Y))


def test_one_tensor_is_several_outputs() -> None:
    def twice(x: Tensor) -> tuple[Tensor, ...]:
        y = x * 2
        return y, y, y.reshape(3, 2)

    check_export(Calls(twice), (X,))


def test_a_view_of_an_input_is_an_output() -> None:
    check_export(Calls(lambda x: (x.t(), x.reshape(-1), x[1])), (X,))


def test_a_constant_is_an_output() -> None:
    class Constant(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(3))

        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            return self.weight, x + self.weight

    check_export(Constant(), (X,), more=[(Y,)])


def test_a_module_may_take_nothing() -> None:
    class Nothing(nn.Module):
        def forward(self) -> Tensor:
            return torch.arange(4) * 2

    check_export(Nothing())


def test_tensors_of_no_dimensions_and_of_no_elements_are_taken() -> None:
    check_export(Calls(lambda x, y: (x + 1, y * 2)), (torch.tensor(3.0), torch.zeros(2, 0, 3)))


def test_an_unused_input_is_still_an_input() -> None:
    checked = check_export(Calls(lambda x, unused, y: x + y), (X, torch.ones(7), Y))
    assert len(checked.model.method("forward").inputs) == 3

# SPDX-License-Identifier: BSD-3-Clause
"""The dim orders that operators require, by the traits of the operator table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch import Tensor, nn  # noqa: E402
from torch.fx import Node  # noqa: E402

from rushlight.export import OperatorLibrary  # noqa: E402
from rushlight.export.order.rules import OrderRules  # noqa: E402

aten = torch.ops.aten
LIBRARY = OperatorLibrary.default()
IMAGE, PIXELS = torch.randn(1, 4, 6, 6), torch.randn(1, 4, 1, 1)


class Calls(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Tensor) -> Any:
        return self.function(*args)


def call_of(function: Callable[..., Any], *args: Tensor) -> tuple[Node, list[Node]]:
    """The last operator that a function calls, as PyTorch traces it, and the nodes of its inputs."""
    graph = torch.export.export(Calls(function), args).graph
    called = [node for node in graph.nodes if node.op == "call_function"]
    return called[-1], [node for node in graph.nodes if node.op == "placeholder"]


def deciding(library: OperatorLibrary, function: Callable[..., Any], *args: Tensor) -> list[int]:
    """The places of the inputs that decide about the order of the result."""
    node, inputs = call_of(function, *args)
    return [inputs.index(each) for each in OrderRules(library).deciding_inputs(node)]


@pytest.mark.parametrize(
    ("function", "args", "indices"),
    [
        (lambda x, w: aten.convolution(x, w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1), [], [0]),
        (lambda x, w: aten.conv2d(x, w), [], [0]),
        (lambda x, w: aten.max_pool2d(x, [2, 2]), [], [0]),
        (lambda x, w: aten.adaptive_avg_pool2d(x, [2, 2]), [], [0]),
        (lambda x, y: x * y, [torch.randn(1, 4, 6, 6)], [0, 1]),
        (lambda x, y: x * y, [PIXELS], [0]),
        (lambda x, y: y // x, [PIXELS], [0]),
        (lambda x, w: aten.hardswish(x), [], [0]),
        (lambda x, w: x.softmax(1), [], []),
        (lambda x, w: x.permute(0, 2, 3, 1), [], []),
    ],
)
def test_inputs_decide_as_the_rows_traits_say(
    function: Callable[..., Any], args: Sequence[Tensor], indices: list[int]
) -> None:
    assert deciding(LIBRARY, function, IMAGE, *(args or [torch.randn(4, 4, 2, 2)])) == indices


def test_volumes_have_no_order_to_keep_in_convolutions() -> None:
    volume, weight = torch.randn(1, 4, 5, 5, 5), torch.randn(4, 4, 2, 2, 2)
    assert deciding(LIBRARY, lambda x, w: nn.functional.conv3d(x, w), volume, weight) == []


def test_a_runtime_of_few_orders_keeps_none_where_it_broadcasts() -> None:
    few = LIBRARY.only(LIBRARY.operators, "few", any_order=False)
    assert deciding(few, lambda x, y: x // y, IMAGE, PIXELS) == []
    assert deciding(few, lambda x, y: x // y, IMAGE, IMAGE + 1) == [0, 1]


def test_traits_are_known_of_rows_that_the_runtime_lacks() -> None:
    lacking = LIBRARY.without("aten::hardswish.out")
    assert lacking.find(aten.hardswish.default) is None
    assert lacking.traits(aten.hardswish.default) == LIBRARY.traits(aten.hardswish.default) != frozenset()
    assert lacking.with_rows([]).traits(aten.hardswish.default) == LIBRARY.traits(aten.hardswish.default)


def test_a_convolution_is_what_keeps_an_order_and_has_a_weight() -> None:
    rules = OrderRules(LIBRARY)
    convolution, inputs = call_of(lambda x, w: aten.conv2d(x, w), IMAGE, torch.randn(4, 4, 2, 2))
    linear, _ = call_of(lambda x, w: nn.functional.linear(x, w), IMAGE, torch.randn(4, 6))
    assert rules.is_convolution(convolution) and rules.convolution_weight(convolution) is inputs[1]
    assert not rules.is_convolution(linear) and rules.convolution_weight(linear) is None


def test_a_weight_that_is_the_input_too_has_no_order_of_its_own() -> None:
    both, _ = call_of(lambda x: aten.conv2d(x, x), IMAGE)
    assert OrderRules(LIBRARY).convolution_weight(both) is None


@pytest.mark.parametrize(
    ("function", "takes"),
    [
        (lambda x: x.mean((2, 3), keepdim=True), True),
        (lambda x: x.sum(1), True),
        (lambda x: x.amax(2, keepdim=True), False),  # neither one channel nor one pixel
        (lambda x: nn.functional.scaled_dot_product_attention(x, x, x), True),
        (lambda x: x.softmax(1), False),
    ],
)
def test_reductions_to_a_pixel_and_attention_read_any_order(
    function: Callable[..., Any], takes: bool
) -> None:
    node, _ = call_of(function, IMAGE)
    assert OrderRules(LIBRARY).reads_any_order(node) is takes
    few = LIBRARY.only(LIBRARY.operators, "few", any_order=False)
    assert not OrderRules(few).reads_any_order(node)


@pytest.mark.parametrize(
    ("function", "is_view"),
    [
        (aten.view_copy.default, True),
        (aten.unsqueeze_copy.default, True),
        (aten.squeeze_copy.dims, True),
        (aten.view_copy.dtype, False),
        (aten.view.default, False),  # shares memory: a view is no copy of one
        (aten.permute_copy.default, False),
        (aten.clone.default, False),
    ],
)
def test_copies_under_other_sizes_are_known(function: Any, is_view: bool) -> None:
    assert LIBRARY.changes_sizes(function) is is_view


@pytest.mark.parametrize("function", [aten.view.default, aten.reshape.default, aten.flatten.using_ints])
def test_what_takes_other_sizes_is_a_view_as_its_copy_is(function: Any) -> None:
    assert "view" in LIBRARY.traits(function)

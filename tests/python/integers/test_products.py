# SPDX-License-Identifier: BSD-3-Clause
"""Rules of convolutions and linear layers on graphs that know neither PyTorch nor programs: what they make,
what they leave, and what they refuse for which reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from rushlight.integers.match import Report, rewrite_graph
from rushlight.integers.rules import Settings

QUANTIZE, DEQUANTIZE = (f"quantized_decomposed::{name}_per_tensor" for name in ("quantize", "dequantize"))
BY_CHANNEL = "quantized_decomposed::dequantize_per_channel"
WEIGHT = np.array([[1, -2, 3], [-4, 5, -6]], np.int8)


@dataclass(frozen=True)
class Node:
    """A call, by the name of its result."""

    result: str
    operator: str
    arguments: Mapping[str, Any]


@dataclass
class Listed:
    """A graph: a list of calls, constants by name, and the dtypes of other values (float32 by default)."""

    nodes: list[Node]
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    dtypes: dict[str, str] = field(default_factory=dict)
    outputs: set[str] = field(default_factory=set)
    kernels: set[str] = field(default_factory=lambda: {"int8", "uint8"})

    def calls(self) -> Sequence[Node]:
        return self.nodes

    def maker(self, value: Any) -> Node | None:
        return next((node for node in self.nodes if node.result == value), None)

    def is_present(self, call: Any) -> bool:
        return call in self.nodes

    def inputs(self, call: Any) -> Sequence[Any]:
        names = {node.result for node in self.nodes} | self.constants.keys() | self.dtypes.keys()
        given = [each for each in call.arguments.values() if isinstance(each, str) and each in names]
        return list(dict.fromkeys(given))

    def results(self, call: Any) -> Sequence[Any]:
        return [call.result]

    def is_pointwise(self, call: Any) -> bool:
        return False  # tables are tested with PyTorch

    def can_repeat(self, call: Any, dtype: str) -> bool:
        return False

    def repeat(self, call: Any, changes: Mapping[str, Any], dtype: str) -> Sequence[Any]:
        raise AssertionError("products repeat nothing")

    def substitute(self, old: Any, new: Any) -> None:
        raise AssertionError("products substitute nothing")

    def compute(self, call: Any, known: Mapping[Any, np.ndarray]) -> np.ndarray | None:
        return None

    def readers(self, value: Any) -> Sequence[Node]:
        return [node for node in self.nodes for each in node.arguments.values() if _is(each, value)]

    def is_output(self, value: Any) -> bool:
        return value in self.outputs

    def constant(self, value: Any) -> np.ndarray | None:
        return self.constants.get(value) if isinstance(value, str) else None

    def dtype(self, value: Any) -> str:
        return self.dtypes.get(value, "float32")

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, str)

    def sizes(self, value: Any) -> tuple[Any, ...]:
        return (4, 3)

    def can_call(self, operator: str, dtype: str) -> bool:
        return dtype in self.kernels

    def replace(self, last: Any, operator: str, arguments: Mapping[str, Any]) -> None:
        self.nodes[self.nodes.index(last)] = Node(last.result, operator, arguments)

    def insert(self, before: Any, operator: str, arguments: Mapping[str, Any], like: Any, dtype: str) -> Any:
        raise AssertionError("products insert nothing")


def _is(each: Any, value: Any) -> bool:
    return isinstance(each, str) and each == value


def per_tensor(
    given: str, scale: Any = 0.5, zero_point: Any = 0, low: int = -128, high: int = 127
) -> dict[str, Any]:
    """The arguments of quantize and dequantize."""
    return {"input": given, "scale": scale, "zero_point": zero_point, "quant_min": low, "quant_max": high}


def linear(activation: Node | None = None) -> Listed:
    """dequantize -> linear -> [activation] -> quantize, with scales for channels and a bias in float."""
    nodes = [
        Node("x", DEQUANTIZE, per_tensor("x_q", 0.5, 7)),
        Node("w", BY_CHANNEL, {"input": "w_q", "scales": "w_scales", "zero_points": "w_points", "axis": 0}),
        Node("y", "aten::linear", {"input": "x", "weight": "w", "bias": "b"}),
        *([activation] if activation else []),
        Node("y_q", QUANTIZE, per_tensor(activation.result if activation else "y", 2.0, -3)),
    ]
    constants = {
        "w_q": WEIGHT,
        "w_scales": np.array([0.25, 0.125], np.float32),
        "w_points": np.zeros(2, np.int64),
        "b": np.array([1.0, -1.0], np.float32),
    }
    return Listed(nodes, constants, {"x_q": "int8", "y_q": "int8"}, {"y_q"})


def change(graph: Listed, result: str, operator: str | None = None, **arguments: Any) -> Listed:
    """The graph with other arguments of a call."""
    for index, node in enumerate(graph.nodes):
        if node.result == result:
            graph.nodes[index] = Node(result, operator or node.operator, {**node.arguments, **arguments})
    return graph


def made(graph: Listed) -> dict[str, Any]:
    """The arguments of the only call that a rule made."""
    report = rewrite_graph(graph)
    assert not report.refused
    assert report.replaced == ["aten::linear"]
    return dict(graph.maker("y_q").arguments)  # type: ignore[union-attr]


def refusal(graph: Listed) -> str:
    """The reason why the graph stays as it is."""
    before = list(graph.nodes)
    report = rewrite_graph(graph)
    assert graph.nodes == before
    assert not report.replaced
    ((_, reason),) = report.refused
    return reason


def test_a_linear_layer() -> None:
    graph = linear()
    arguments = made(graph)
    assert graph.maker("y_q").operator == "rushlight::quantized_linear"  # type: ignore[union-attr]
    assert (arguments["input"], arguments["weight"]) == ("x_q", "w_q")
    # 1.0 / (0.5 * 0.25) less 7 times the sum of weights; -1.0 / (0.5 * 0.125) less that.
    assert arguments["bias"].tolist() == [8 - 7 * 2, -16 - 7 * -5]
    scales = arguments["multipliers"] * 2.0 ** (arguments["shifts"].astype(float) - 31)
    assert scales.tolist() == [0.5 * 0.25 / 2.0, 0.5 * 0.125 / 2.0]
    assert arguments["rounding"] == "single"
    assert [arguments[f"output_{name}"] for name in ("zero_point", "min", "max")] == [-3, -128, 127]


def test_the_rounding_is_a_setting() -> None:
    graph = linear()
    report: Report = rewrite_graph(graph, Settings(rounding="float"))
    assert len(report.replaced) == 1
    arguments = graph.maker("y_q").arguments  # type: ignore[union-attr]
    assert (arguments["rounding"], arguments["shifts"]) == ("float", None)
    assert arguments["multipliers"].tolist() == [0.0625, 0.03125]


@pytest.mark.parametrize(
    ("operator", "arguments", "low", "high"),
    [
        ("aten::relu", {}, -3, 127),
        ("aten::hardtanh", {"min_val": -4.0, "max_val": 6.0}, -5, 0),
        ("aten::clamp", {"min": None, "max": 3.0}, -128, -1),  # 1.5 steps: halves to even
        ("aten::clamp", {"min": -1.0, "max": None}, -3, 127),
        ("aten::clamp", {"min": 0, "max": 1e30}, -3, 127),
    ],
)
def test_an_activation_becomes_the_range(
    operator: str, arguments: dict[str, Any], low: int, high: int
) -> None:
    result = made(linear(Node("z", operator, {"self": "y", **arguments})))
    assert (result["output_min"], result["output_max"]) == (low, high)


def test_the_range_of_quantize_is_kept() -> None:
    arguments = made(change(linear(), "y_q", quant_min=-100, quant_max=90))
    assert (arguments["output_min"], arguments["output_max"]) == (-100, 90)


def test_a_bias_may_be_integers() -> None:
    graph = linear()
    graph.constants["b_q"] = np.array([8, -16], np.int32)
    graph.constants["b_scales"] = np.array([0.125, 0.0625], np.float32)
    given = {"input": "b_q", "scales": "b_scales", "zero_points": None, "axis": 0}
    graph.nodes.insert(0, Node("b", BY_CHANNEL, given))
    del graph.constants["b"]
    assert made(graph)["bias"].tolist() == [-6, 19]


def test_without_bias_and_by_tensor() -> None:
    graph = change(linear(), "y", bias=None)
    change(graph, "w", DEQUANTIZE, **per_tensor("w_q", 0.25))
    arguments = made(graph)
    assert arguments["bias"].tolist() == [-14, 35]
    assert arguments["multipliers"].shape == arguments["shifts"].shape == (1,)


def test_what_is_not_quantized_is_left() -> None:
    for graph in (
        change(linear(), "y", input="x_real"),
        change(linear(), "y_q", "aten::neg"),
        linear(Node("z", "aten::gelu", {"self": "y"})),
    ):
        before = list(graph.nodes)
        report = rewrite_graph(graph)
        assert (report.replaced, report.refused, graph.nodes) == ([], [], before)


def test_floats_that_somebody_else_reads_are_left() -> None:
    read = linear()
    read.nodes.append(Node("other", "aten::neg", {"self": "y"}))
    out = linear()
    out.outputs.add("y")
    behind = linear(Node("z", "aten::relu", {"self": "y"}))
    behind.outputs.add("z")
    for graph in (read, out, behind):
        before = list(graph.nodes)
        assert not rewrite_graph(graph).replaced
        assert graph.nodes == before


def test_an_input_may_have_other_readers() -> None:
    graph = linear()
    graph.nodes.append(Node("other", "aten::neg", {"self": "x"}))
    made(graph)


def with_constant(name: str, value: np.ndarray) -> Listed:
    """The graph with another constant."""
    graph = linear()
    graph.constants[name] = value
    return graph


def with_dtypes(**dtypes: str) -> Listed:
    """The graph with other dtypes."""
    graph = linear()
    graph.dtypes |= dtypes
    return graph


def computed_bias() -> Listed:
    """A bias that is no constant."""
    graph = linear()
    graph.nodes.insert(0, Node("b", "aten::neg", {"self": "x"}))
    del graph.constants["b"]
    return graph


def kernels(*dtypes: str) -> Listed:
    """The graph where the runtime has kernels for these dtypes."""
    graph = linear()
    graph.kernels = set(dtypes)
    return graph


NO_ZERO = "its activation excludes 0"
NO_WEIGHT = "its weight is not constant int8 with zero points of 0"


@pytest.mark.parametrize(
    ("graph", "reason"),
    [
        (with_constant("w_points", np.array([0, 1])), NO_WEIGHT),
        (with_constant("w_q", WEIGHT.astype(np.uint8)), NO_WEIGHT),
        (with_constant("w_q", WEIGHT[..., None]), NO_WEIGHT),
        (change(linear(), "w", input="w_computed"), NO_WEIGHT),
        (change(linear(), "w", axis=1), NO_WEIGHT),
        (change(linear(), "w", DEQUANTIZE, **per_tensor("w_q", 0.5, 3)), NO_WEIGHT),
        (change(linear(), "y", weight="w_real"), NO_WEIGHT),
        (with_dtypes(x_q="int32"), "its input is int32, not int8, uint8 or int16"),
        (with_dtypes(x_q="int16"), "a zero point of int16 is not 0"),
        (with_dtypes(y_q="uint8"), "its result is not int8, as its input is"),
        (kernels("uint8"), "no kernel multiplies int8"),
        (linear(Node("z", "aten::clamp", {"self": "y", "min": 4.0, "max": None})), NO_ZERO),
        (linear(Node("z", "aten::clamp", {"self": "y", "min": None, "max": -4.0})), NO_ZERO),
        (computed_bias(), "its bias is not constant"),
        (with_constant("b", np.array([1e9, 0], np.float32)), "its sums may have more than 32 bits"),
        (with_constant("b", np.array([np.nan, 0], np.float32)), "its sums may have more than 32 bits"),
        (change(linear(), "y_q", scale=1e-30), "its scales are out of range"),
    ],
)  # fmt: skip
def test_what_is_refused(graph: Listed, reason: str) -> None:
    assert refusal(graph) == reason


def convolution(weight: np.ndarray, scales: np.ndarray, **settings: Any) -> Listed:
    """dequantize -> convolution -> quantize."""
    plain = {"stride": [1, 1], "padding": [0, 0], "dilation": [1, 1], "transposed": False}
    plain |= {"output_padding": [0, 0], "groups": 1, **settings}
    graph = linear()
    change(graph, "y", "aten::convolution", bias=None, **plain)
    change(graph, "w", axis=1 if settings.get("transposed") else 0)
    graph.constants |= {"w_q": weight, "w_scales": scales, "w_points": np.zeros(scales.size, np.int64)}
    return graph


def test_a_convolution() -> None:
    weight = np.arange(2 * 3 * 2 * 2, dtype=np.int8).reshape(2, 3, 2, 2)
    graph = convolution(weight, np.array([0.25, 0.5]), stride=[2, 1], padding=[1, 0])
    assert rewrite_graph(graph).replaced == ["aten::convolution"]
    call = graph.maker("y_q")
    assert call is not None and call.operator == "rushlight::quantized_convolution"
    given = call.arguments
    assert (given["input_zero_point"], given["stride"], given["padding"]) == (7, [2, 1], [1, 0])
    assert given["bias"].tolist() == [-7 * sum(range(12)), -7 * sum(range(12, 24))]


@pytest.mark.parametrize("groups", [1, 2])
def test_a_transposed_convolution(groups: int) -> None:
    weight = np.arange(4 * 3 * 2 * 2, dtype=np.int8).reshape(4, 3, 2, 2)
    scales = np.array([0.25, 0.5, 0.125]) if groups == 1 else np.array([0.25])
    graph = convolution(weight, scales, transposed=True, groups=groups)
    if groups == 2:
        change(graph, "w", DEQUANTIZE, **per_tensor("w_q", 0.25))
    assert rewrite_graph(graph).replaced == ["aten::convolution"]
    found = graph.maker("y_q").arguments["bias"]  # type: ignore[union-attr]
    per_group = 4 // groups
    expected = [
        -7 * int(weight[g * per_group : (g + 1) * per_group, c].astype(int).sum())
        for g in range(groups)
        for c in range(3)
    ]
    assert found.tolist() == expected


def test_groups_of_a_transposed_convolution_that_share_scales() -> None:
    weight = np.ones((4, 3, 2, 2), np.int8)
    graph = convolution(weight, np.array([0.25, 0.5, 0.125]), transposed=True, groups=2)
    assert refusal(graph) == "its groups share per-channel scales"

# SPDX-License-Identifier: BSD-3-Clause
"""The report of a quantization: the operators that became integer, those left in float, and the reasons."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node

from rushlight.errors import InvalidArgument
from rushlight.quantize.config import Scheme, Static
from rushlight.quantize.patterns.base import (
    is_annotated,
    is_constant,
    is_float,
    is_quantized,
    reads_integers,
)
from rushlight.quantize.patterns.moving import moves_elements
from rushlight.quantize.scope import module_stack

_KEY = "rushlight.quantize.report"

NO_FORM = "no quantized form"
CONTROL_FLOW = "bodies of control flow are not quantized"
TOO_LONG = "its steps would take more bytes than int8 weights save; RushlightQuantizer(unroll=True) forces it"
NOT_UNROLLED = "projections, and dropout in training, have no quantized form"


class QuantizationWarning(UserWarning):
    """Parts of a model that the user probably expects as integers stayed in float."""


@dataclass(frozen=True)
class Left:
    """Operators of one kind in one module that stayed in float. `weight_bytes`: the bytes of their float
    weights."""

    operator: str
    module: str
    reason: str
    count: int = 1
    weight_bytes: int = 0

    def __str__(self) -> str:
        times = f" ({self.count} times)" if self.count > 1 else ""
        weights = f", weights of {self.weight_bytes} bytes" if self.weight_bytes else ""
        return f"{self.operator}{times} in {self.module or 'the model itself'}{weights}: {self.reason}"


@dataclass(frozen=True)
class Unrolled:
    """A recurrent layer expanded to `operators` operators over all steps."""

    operator: str
    module: str
    steps: int
    operators: int

    def __str__(self) -> str:
        where = self.module or "the model itself"
        return f"{self.operator} in {where}: {self.steps} steps, {self.operators} operators"


@dataclass(frozen=True)
class Report:
    """`quantized`: the number of operators that read or return integers. `left`: operators in float although
    their module has a scheme, weights and control flow first. `unrolled`: recurrent layers expanded to
    single steps."""

    quantized: int
    left: tuple[Left, ...] = ()
    unrolled: tuple[Unrolled, ...] = ()

    @property
    def unexpected(self) -> tuple[Left, ...]:
        """The part of `left` that a user probably expects as integers: weights and bodies of control flow."""
        return tuple(item for item in self.left if item.weight_bytes or item.reason == CONTROL_FLOW)

    def __str__(self) -> str:
        lines = [
            f"{self.quantized} operators quantized, {sum(item.count for item in self.left)} left in float"
        ]
        lines += [f"  unrolled: {item}" for item in self.unrolled]
        return "\n".join([*lines, *(f"  float: {item}" for item in self.left)])


def report(graph: GraphModule) -> Report:
    """The report of a graph returned by prepare, prepare_training, convert or quantize.

    Errors: InvalidArgument for another graph.
    """
    found = found_report(graph)
    if found is None:
        raise InvalidArgument("report: expected a graph from rushlight.quantize, got another one")
    return found


def found_report(graph: GraphModule) -> Report | None:
    """The report stored with a graph; None for a graph that another tool prepared."""
    found = graph.meta.get(_KEY)
    return found if isinstance(found, Report) else None


def attach(graph: GraphModule, made: Report) -> GraphModule:
    """Stores the report with the graph."""
    graph.meta[_KEY] = made
    return graph


def warn_of_float(made: Report) -> None:
    """Emits one QuantizationWarning for the entries of `unexpected`, if there are any."""
    if made.unexpected:
        listed = "\n".join(f"  {item}" for item in made.unexpected)
        warnings.warn(f"quantize: left in float:\n{listed}", QuantizationWarning, stacklevel=3)


def make_report(
    nodes: Iterable[Node],
    scheme_of: Callable[[Node], Scheme | None],
    kept_layers: dict[Any, str],
    unrolled: Iterable[Unrolled],
) -> Report:
    """The report of an annotated graph. `kept_layers` has the reasons of recurrent layers that stayed
    whole."""
    nodes = list(nodes)
    tables = _tables(nodes)
    quantized = 0
    counts: Counter[tuple[str, str, str]] = Counter()
    weights: Counter[tuple[str, str, str]] = Counter()
    for node in nodes:
        if is_annotated(node) or node in tables:
            quantized += 1
            continue
        scheme = scheme_of(node)
        if scheme is None or is_constant(node) or moves_elements(node):
            continue
        reason, size = _why_float(node, kept_layers)
        # A weight-only scheme leaves activations in float intentionally.
        if reason == NO_FORM and not size and not (isinstance(scheme, Static) and is_float(node)):
            continue
        key = (_name(node), _module(node), reason)
        counts[key] += 1
        weights[key] += size
    left = [Left(*key, count, weights[key]) for key, count in counts.items()]
    left.sort(key=lambda item: (-item.weight_bytes, item.reason != CONTROL_FLOW))
    return Report(quantized, tuple(left), tuple(unrolled))


def _tables(nodes: list[Node]) -> set[Node]:
    """Functions of one quantized value whose readers all read integers: programs compute them with tables."""
    found: set[Node] = set()
    for node in nodes:
        sources = node.all_input_nodes
        tags = getattr(node.target, "tags", ())
        if is_annotated(node) or not is_float(node) or torch.Tag.pointwise not in tags or len(sources) != 1:
            continue
        if is_quantized(sources[0]) or sources[0] in found:
            found.add(node)
    for node in reversed(nodes):
        if node in found and not all(user in found or reads_integers(user, node) for user in node.users):
            found.remove(node)
    return found


def _why_float(node: Node, kept_layers: dict[Any, str]) -> tuple[str, int]:
    """The reason, and the bytes of the float matrices that the node reads; biases do not count."""
    if isinstance(node.target, torch._ops.HigherOrderOperator):
        return CONTROL_FLOW, 0
    values = [source.meta.get("val") for source in node.all_input_nodes if is_constant(source)]
    size = sum(
        math.prod(value.shape) * value.element_size()
        for value in values
        if isinstance(value, torch.Tensor) and value.is_floating_point() and value.dim() > 1
    )
    return kept_layers.get(node, NO_FORM), size


def _name(node: Node) -> str:
    if isinstance(node.target, torch._ops.OpOverload):
        return node.target._schema.name.partition("::")[2]
    return str(getattr(node.target, "__name__", node.target))


def _module(node: Node) -> str:
    stack = module_stack(node)
    return stack[-1][0] if stack else ""

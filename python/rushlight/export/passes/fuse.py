# SPDX-License-Identifier: BSD-3-Clause
"""Replaces patterns of operators by single operators with a kernel in the runtime.

Method: tree matching from each call upwards, both argument orders for commutative operators. A kernel
library can add rules: a pattern, and the operator that computes it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.fx import Node

from rushlight.export.frontend.operators import OperatorLibrary
from rushlight.export.graph.nodes import value_of
from rushlight.export.graph.rewrite import calls, insert_before, replace
from rushlight.export.graph.sizes import same_sizes
from rushlight.export.passes.base import Pass, PassContext

aten = torch.ops.aten


@dataclass(frozen=True)
class Var:
    """Matches any value; equal names must match the same value."""

    name: str


@dataclass(frozen=True)
class Op:
    """Matches a call of the operator (name without overload) with these arguments: patterns or constants.
    Other arguments must have their defaults. Arguments match in either order if the operator's row has the
    trait `commutes`; set `commutes` for an operator without a row."""

    name: str
    args: tuple[Any, ...]
    commutes: bool = False


@dataclass(frozen=True)
class Rule:
    """Replaces `pattern` by a call of `target` with the values of the variables in `arguments`, and the
    keyword arguments `options`."""

    name: str
    pattern: Op
    target: OpOverload
    arguments: tuple[str, ...] = ("x",)
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class _Match:
    values: dict[str, Any] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)

    def copy(self) -> _Match:
        return _Match(dict(self.values), list(self.nodes))


class Fuse(Pass):
    """Applies each rule whose operator the runtime has in the result's dtype, if nothing else reads the
    pattern's intermediate results. Earlier rules have priority; later patterns may contain the result of a
    rule."""

    name = "fuse"
    requires = frozenset({"views are copies"})
    ensures = frozenset({"patterns are fused"})

    def __init__(self, rules: Sequence[Rule] | None = None) -> None:
        self.rules = DEFAULT_RULES if rules is None else tuple(rules)

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        active: dict[str, list[Rule]] = {}
        for rule in self.rules:
            if context.library.find(rule.target) is not None:
                active.setdefault(rule.pattern.name, []).append(rule)
        modified = False
        for _, node in calls(program):
            for rule in active.get(_name(node), ()):
                if _apply(rule, node, program, context):
                    modified = True
                    break
        return modified


def _name(node: Any) -> str:
    return node.target._schema.name if isinstance(node.target, OpOverload) else ""


def _apply(rule: Rule, node: Node, program: ExportedProgram, context: PassContext) -> bool:
    match = _matched(rule.pattern, node, _Match(), context.library)
    if match is None:
        return False
    inner = [n for n in match.nodes if n is not node]
    if any(user not in match.nodes for n in inner for user in n.users):
        return False
    args = [match.values[name] for name in rule.arguments]
    if not _same_kind(node, args[0]) or not _has_dtype(rule, node, context):
        return False
    fused = insert_before(node, rule.target, args, rule.options, value=value_of(node), origin=node)
    replace(program, node, fused)
    for dead in sorted(set(inner), reverse=True):
        if not dead.users:
            dead.graph.erase_node(dead)
    return True


def _same_kind(node: Node, operand: Any) -> bool:
    """True if the result has the operand's dtype and sizes, so that nothing was promoted or broadcast."""
    own, other = value_of(node), value_of(operand)
    return isinstance(other, torch.Tensor) and own.dtype == other.dtype and same_sizes(own.shape, other.shape)


def _has_dtype(rule: Rule, node: Node, context: PassContext) -> bool:
    row = context.library.find(rule.target)
    assert row is not None
    return str(value_of(node).dtype).removeprefix("torch.") in context.library.operators[row].dtypes


def _matched(pattern: Any, value: Any, match: _Match, library: OperatorLibrary) -> _Match | None:
    """The match extended by this value, or None if the value does not fit the pattern."""
    if isinstance(pattern, Var):
        known = match.values.setdefault(pattern.name, value)
        return match if known is value or (not isinstance(value, Node) and known == value) else None
    if not isinstance(pattern, Op):
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return match if is_number and value == pattern else None
    if not isinstance(value, Node) or value.op != "call_function" or _name(value) != pattern.name:
        return None
    if value.kwargs or len(value.args) != len(pattern.args):
        return None
    match.nodes.append(value)
    commutes = pattern.commutes or library.has_trait(library.find(value.target) or "", "commutes")
    orders = [value.args, value.args[::-1]] if commutes else [value.args]
    for arguments in orders:
        found: _Match | None = match.copy()
        for part, argument in zip(pattern.args, arguments, strict=True):
            found = _matched(part, argument, found, library) if found is not None else None
        if found is not None:
            return found
    return None


_X = Var("x")
_SHIFTED = Op("aten::add", (_X, 3))
_CLAMPED = (Op("aten::hardtanh", (_SHIFTED, 0, 6)), Op("aten::clamp", (_SHIFTED, 0, 6)))
_HALF = Op("aten::mul", (_X, 0.5), commutes=True)


def _product(*factors: Any) -> Op:
    first, second, *others = factors
    found = Op("aten::mul", (first, second), commutes=True)
    return _product(found, *others) if others else found


def _gelu(inner: Op) -> tuple[Op, ...]:
    """x / 2 * (1 + inner), with the half at either factor."""
    shifted = Op("aten::add", (inner, 1), commutes=True)
    return (
        _product(_HALF, shifted),
        _product(_X, _product(shifted, 0.5)),
        _product(_product(_X, shifted), 0.5),
    )


_CUBE = (Op("aten::pow", (_X, 3)), _product(_X, _X, _X))
_BEND = 0.044715  # of GELU's approximation by tanh
_SLOPE = math.sqrt(2 / math.pi)
_TANH = (
    *(
        Op("aten::tanh", (_product(Op("aten::add", (_X, _product(cube, _BEND)), commutes=True), _SLOPE),))
        for cube in _CUBE
    ),
    *(
        Op(
            "aten::tanh",
            (
                _product(
                    _product(_X, slope),
                    Op("aten::add", (_product(_product(_X, _BEND), _X), 1), commutes=True),
                ),
            ),
        )
        for slope in (_SLOPE, 0.7978845608)
    ),
)
_ERF = (
    Op("aten::erf", (Op("aten::div", (_X, math.sqrt(2))),)),
    *(Op("aten::erf", (_product(_X, root),)) for root in (math.sqrt(0.5), 1 / math.sqrt(2))),
)
# Patterns of hand-written models; the modules of torch.nn export as single operators.
DEFAULT_RULES: tuple[Rule, ...] = (
    Rule(
        "x * sigmoid(x)",
        Op("aten::mul", (_X, Op("aten::sigmoid", (_X,)))),
        aten.silu.default,
    ),
    *(
        Rule("relu6(x + 3) / 6", Op("aten::div", (clamped, 6)), aten.hardsigmoid.default)
        for clamped in _CLAMPED
    ),
    *(
        Rule(
            "x * relu6(x + 3) / 6",
            Op("aten::div", (Op("aten::mul", (_X, clamped)), 6)),
            aten.hardswish.default,
        )
        for clamped in _CLAMPED
    ),
    Rule(
        "x * hardsigmoid(x)",
        Op("aten::mul", (_X, Op("aten::hardsigmoid", (_X,)))),
        aten.hardswish.default,
    ),
    *(
        Rule("x / 2 * (1 + tanh(...))", pattern, aten.gelu.default, options={"approximate": "tanh"})
        for inner in _TANH
        for pattern in _gelu(inner)
    ),
    *(
        Rule("x / 2 * (1 + erf(x / sqrt(2)))", pattern, aten.gelu.default)
        for inner in _ERF
        for pattern in _gelu(inner)
    ),
)

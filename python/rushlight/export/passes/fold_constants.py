# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates subgraphs of constants at export if that does not store more bytes."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.fx import Node
from torch.fx.node import map_arg

from rushlight.export.graph.constants import Constants
from rushlight.export.graph.nodes import copy_meta, overload_of, value_of
from rushlight.export.graph.rewrite import is_pure, replace
from rushlight.export.graph.sizes import static_bytes
from rushlight.export.passes.base import Pass, PassContext

# Bytes that an intermediate result may exceed twice its inputs by.
_WORKSPACE = 1 << 20
_PLAIN = (torch.Tensor, torch.nn.Parameter)
_VIEWS = frozenset({"permute", "transpose", "t", "squeeze", "unsqueeze", "select", "slice"})


class FoldConstants(Pass):
    """Folds permuted weights, position tables and normalized weights to constants.

    A connected group of results may add `slack` bytes; beyond that it must free as many bytes as it adds.
    So `expand` of a small constant stays, and so does a permuted weight whose original has other readers.
    Dequantization is never folded and quantization always is, because quantized weights should be stored
    quantized. Results that are views of the model's tensors share their memory.
    """

    name = "fold_constants"
    requires = frozenset({"views are copies"})
    ensures = frozenset({"constants are folded"})

    def __init__(self, slack: int = 1024) -> None:
        self.slack = slack

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass. Does not change bodies of control flow, which receive constants as operands."""
        constants = Constants(program)
        nodes = [n for n in program.graph.nodes if n.op == "call_function"]
        foldable = _depending_on_constants(nodes, constants)
        while refused := self._refused(foldable, constants):
            foldable = _depending_on_constants([n for n in foldable if n not in refused], constants)
        if not foldable:
            return False
        _Evaluation(program, foldable, constants, context).run()
        constants.remove_unused()
        return True

    def _refused(self, foldable: dict[Node, None], constants: Constants) -> set[Node]:
        """The nodes at the border of groups that would store more bytes than they free."""
        refused: set[Node] = set()
        for sources, members in _groups(foldable, constants):
            border = [n for n in members if _is_border(n, foldable) and not _is_quantization(n.target)]
            added = sum(_bytes(n) for n in border)
            freed = sum(_bytes(n) for n in sources if n.users.keys() <= foldable.keys())
            if added > freed + self.slack:
                grown = [n for n in border if _bytes(n) > self.slack + sum(map(_bytes, n.all_input_nodes))]
                large = [n for n in border if _bytes(n) > self.slack]
                refused.update(grown or large or border)
        return refused


def _depending_on_constants(nodes: list[Node], constants: Constants) -> dict[Node, None]:
    """The nodes, in order, that constants and other such nodes determine."""
    found: dict[Node, None] = {}
    for node in nodes:
        known = all(n in found or constants.get(n) is not None for n in node.all_input_nodes)
        if known and _can_compute(node):
            found[node] = None
    return found


def _can_compute(node: Node) -> bool:
    if _is_result(node):
        return True
    if not is_pure(node.target) or _is_dequantization(overload_of(node)):
        return False
    value = value_of(node)
    parts = value if isinstance(value, (tuple, list)) else (value,)
    if not all(isinstance(part, torch.Tensor) and static_bytes(part) is not None for part in parts):
        return False
    size = sum(static_bytes(part) or 0 for part in parts)
    return size <= _WORKSPACE + 2 * sum(_bytes(n) for n in node.all_input_nodes)


def _is_result(node: Node) -> bool:
    return node.target is operator.getitem


def _is_dequantization(target: OpOverload) -> bool:
    return "dequantize" in target._schema.name


def _is_quantization(target: Any) -> bool:
    return isinstance(target, OpOverload) and "::quantize" in target._schema.name


def _bytes(node: Node) -> int:
    value = value_of(node)
    parts = value if isinstance(value, (tuple, list)) else (value,)
    return sum(static_bytes(part) or 0 for part in parts if isinstance(part, torch.Tensor))


def _is_border(node: Node, foldable: dict[Node, None]) -> bool:
    """True if the node would have to be stored, because a node that stays reads it."""
    return isinstance(value_of(node), torch.Tensor) and not node.users.keys() <= foldable.keys()


def _groups(foldable: dict[Node, None], constants: Constants) -> list[tuple[set[Node], list[Node]]]:
    """Connected components of the nodes, each with the constants that it reads."""
    parents: dict[Node, Node] = {}

    def root(node: Node) -> Node:
        parents.setdefault(node, node)
        while parents[node] is not node:
            parents[node] = parents[parents[node]]
            node = parents[node]
        return node

    for node in foldable:
        for read in node.all_input_nodes:
            parents[root(read)] = root(node)
    groups: dict[Node, tuple[set[Node], list[Node]]] = {}
    for node in list(parents) + [n for n in foldable if n not in parents]:
        sources, members = groups.setdefault(root(node), (set(), []))
        if node in foldable:
            members.append(node)
        else:
            sources.add(node)
    return list(groups.values())


class _Evaluation:
    """Evaluates nodes in order, stores those with other readers, and releases the rest after their last
    reader."""

    def __init__(
        self,
        program: ExportedProgram,
        foldable: dict[Node, None],
        constants: Constants,
        context: PassContext,
    ) -> None:
        self.program, self.foldable, self.constants, self.context = program, foldable, constants, context
        self.known: dict[Node, Any] = {}
        self.origins: dict[Node, str] = {}
        stored = [*program.state_dict.values(), *program.constants.values()]
        self.kept = {t.untyped_storage().data_ptr() for t in stored if type(t) in _PLAIN}
        self.last_reader = {read: node for node in foldable for read in node.all_input_nodes}

    @torch.no_grad()
    def run(self) -> None:
        for node in self.foldable:
            reads = node.all_input_nodes
            if all(read in self.known or self.constants.get(read) is not None for read in reads):
                self._compute(node)
            for read in reads:
                if self.last_reader.get(read) is node:
                    self.known.pop(read, None)
        for node in reversed(self.foldable):
            if not node._erased and not node.users:
                node.graph.erase_node(node)

    def _compute(self, node: Node) -> None:
        def tensor(read: Node) -> Any:
            return self.known[read] if read in self.known else self.constants.get(read)

        try:
            value = _looking(node.target)(*map_arg(node.args, tensor), **map_arg(node.kwargs, tensor))
        except (RuntimeError, IndexError) as error:  # it fails at run time in the same way
            self.context.remarks.append(f"fold_constants: {node.name}: {error}")
            return
        self.origins[node] = self._origin(node)
        if _is_border(node, self.foldable):
            assert value.shape == value_of(node).shape and value.dtype == value_of(node).dtype
            made = self.constants.add(self._without_base(value.detach()), self.origins[node])
            copy_meta(node, made)
            self.origins[made] = self.origins[node]
            replace(self.program, node, made)
        else:
            self.known[node] = value

    def _without_base(self, value: torch.Tensor) -> torch.Tensor:
        """A copy, if the value is a view of a temporary tensor: a view would keep all of that tensor's bytes
        alive."""
        storage = value.untyped_storage()
        if storage.data_ptr() in self.kept or (value.is_contiguous() and storage.nbytes() == value.nbytes):
            return value
        return value.clone(memory_format=torch.contiguous_format)

    def _origin(self, node: Node) -> str:
        """The name of the single constant that the node depends on, else the node's name."""
        names = {
            self.origins[n] if n in self.origins else self.constants.name_of(n) for n in node.all_input_nodes
        }
        return names.pop() if len(names) == 1 else node.name


def _looking(target: Any) -> Any:
    """The view operator for an operator that copies a view; other operators as they are."""
    if target is torch.ops.aten.view_copy.default:
        return torch.ops.aten.reshape.default
    if not isinstance(target, OpOverload) or target.namespace != "aten":
        return target
    name = target._schema.name.partition("::")[2]
    base = name.removesuffix("_copy")
    if base == name or base not in _VIEWS:
        return target
    return getattr(getattr(torch.ops.aten, base), target._overloadname)

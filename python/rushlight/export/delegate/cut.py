# SPDX-License-Identifier: BSD-3-Clause
"""Cuts the nodes of a tag out of a graph into a separate program.

Constants: if the placeholder of a constant is tagged, the constant moves into the part, and each part that
reads it gets its own entry (they share the tensor). An untagged constant is an ordinary input. If the
program writes an untagged buffer, the buffer is an input of the part, its new value is an output, and the
program writes it as before; a tagged buffer belongs to the part, which then must contain every node that
reads or writes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.exported_program import ModuleCallEntry, ModuleCallSignature
from torch.export.graph_signature import (
    ArgumentSpec,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    SymBoolArgument,
    SymFloatArgument,
    SymIntArgument,
    TensorArgument,
)
from torch.fx import Graph, GraphModule, Node
from torch.utils import _pytree as pytree

from rushlight.errors import DelegationFailed
from rushlight.export.delegate.failure import describe
from rushlight.export.delegate.interface import DelegationSpec
from rushlight.export.delegate.tagging import TAG
from rushlight.export.graph.constants import input_specs, is_lifted, mutated_targets, stored_tensor
from rushlight.export.graph.nodes import attribute


@dataclass
class Part:
    """The nodes of one tag in one graph, and the program cut from them. `inputs` and `outputs` are nodes of
    the original graph, `constants` the specs of the placeholders that moved into the part, `mutations` the
    output specs of the buffers that the part writes itself."""

    tag: str
    spec: DelegationSpec
    module: GraphModule
    nodes: list[Node]
    inputs: list[Node] = field(default_factory=list)
    outputs: list[Node] = field(default_factory=list)
    constants: dict[Node, InputSpec] = field(default_factory=dict)
    mutations: list[OutputSpec] = field(default_factory=list)
    program: ExportedProgram = field(init=False)


def cut(owner: ExportedProgram, part: Part) -> None:
    """Sets a part's inputs, outputs and program. `part.nodes` must be in topological order. Does not change
    the graph. Errors: DelegationFailed if the tag splits a buffer's readers and writers, or if a delegate
    cannot take a value."""
    top = part.module is owner.graph_module
    members = set(part.nodes)
    carried = _find_inputs(part, _constant_specs(owner) if top else {}, mutated_targets(owner))
    if top:
        _find_mutations(owner, part, members)
    written = {spec.arg.name for spec in part.mutations}
    part.outputs = [node for node in part.nodes if _read_outside(node, members, written, top)]
    part.program = _program(owner, part, carried)


def _constant_specs(owner: ExportedProgram) -> dict[str, InputSpec]:
    return {name: spec for name, spec in input_specs(owner).items() if is_lifted(spec)}


def _find_inputs(part: Part, specs: dict[str, InputSpec], written: set[str]) -> list[Node]:
    """Sorts the values that the members read into constants and inputs, each in order of first use. Returns
    the get_attr nodes of control-flow bodies, which move along. `written` has the targets of the buffers
    that an execution changes: each belongs to at most one part."""
    members = set(part.nodes)
    carried: dict[Node, None] = {}
    inputs: dict[Node, None] = {}
    for node in part.nodes:
        for source in node.all_input_nodes:
            if source in members or source in part.constants:
                continue
            if source.op == "get_attr" and isinstance(
                attribute(part.module, str(source.target)), torch.nn.Module
            ):
                carried[source] = None
            elif source.meta.get(TAG) and (spec := _constant_spec(part, source, specs, written)) is not None:
                part.constants[source] = spec
            else:
                inputs[source] = None
    part.inputs = list(inputs)
    return list(carried)


def _constant_spec(
    part: Part, node: Node, specs: dict[str, InputSpec], written: set[str]
) -> InputSpec | None:
    """The spec with which a tagged node becomes a constant of the part (a tensor of a body's module too);
    None if it stays an input."""
    if node.op == "get_attr":
        return InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(node.name), str(node.target))
    if node.op != "placeholder" or node.name not in specs:
        return None
    if specs[node.name].target in written and node.meta[TAG] != part.tag:
        return None
    strangers = [user for user in node.users if user.meta.get(TAG) != part.tag]
    if node.meta.get("no_copy") and strangers:
        raise DelegationFailed(
            f"constant '{node.name}': expected only readers tagged '{part.tag}', as it may not be copied",
            tag=part.tag,
            backend=part.spec.backend_id,
            nodes=describe(strangers),
        )
    return specs[node.name]


def _find_mutations(owner: ExportedProgram, part: Part, members: set[Node]) -> None:
    """Collects the writes of the buffers that moved into the part. Errors: DelegationFailed if some readers
    or writers of a buffer are outside."""
    names = {node.name for node in members}
    by_target = {spec.target: node for node, spec in part.constants.items() if spec.kind is InputKind.BUFFER}
    for spec in owner.graph_signature.output_specs:
        if spec.kind is not OutputKind.BUFFER_MUTATION or spec.target not in by_target:
            continue
        buffer = by_target[spec.target]
        strangers = [user for user in buffer.users if user not in members]
        if strangers or spec.arg.name not in names:
            raise DelegationFailed(
                f"buffer '{spec.target}': expected the tag '{part.tag}' on each node that reads or writes it "
                f"(its new value is '{spec.arg.name}')",
                tag=part.tag,
                backend=part.spec.backend_id,
                nodes=describe(strangers),
                next_step="Leave the tag off the buffer, so that it stays outside, or tag these nodes too.",
            )
        part.mutations.append(spec)


def _read_outside(node: Node, members: set[Node], written: set[str], top: bool) -> bool:
    """True if a node outside the part reads the member. The write of a buffer that the part owns does not
    count."""
    for user in node.users:
        if user in members:
            continue
        if user.op != "output" or not top or node.name not in written:
            return True
        if pytree.tree_leaves(user.args).count(node) > 1:
            return True
    return False


def _argument(part: Part, node: Node, name: str) -> ArgumentSpec:
    """The signature's argument for a value. Errors: DelegationFailed if it is neither tensor nor scalar."""
    value = node.meta.get("val")
    kinds = (
        (torch.Tensor, TensorArgument),
        ((bool, torch.SymBool), SymBoolArgument),
        ((int, torch.SymInt), SymIntArgument),
        ((float, torch.SymFloat), SymFloatArgument),
    )
    for types, argument in kinds:
        if isinstance(value, types):
            return argument(name)
    raise DelegationFailed(
        f"value '{node.name}' at the border of '{part.tag}': expected a tensor or a scalar, got "
        f"{type(value).__name__}",
        tag=part.tag,
        backend=part.spec.backend_id,
        nodes=describe([node]),
    )


_ORDER = {InputKind.PARAMETER: 0, InputKind.BUFFER: 1, InputKind.CONSTANT_TENSOR: 2}


def _program(owner: ExportedProgram, part: Part, carried: Sequence[Node]) -> ExportedProgram:
    graph = Graph()
    copied: dict[Node, Node] = {}
    constants = sorted(part.constants, key=lambda node: _ORDER[part.constants[node].kind])
    specs = []
    for node in [*constants, *part.inputs]:
        copied[node] = graph.placeholder(node.name)
        copied[node].meta = {key: value for key, value in node.meta.items() if key != TAG}
        spec = part.constants.get(node)
        argument = _argument(part, node, copied[node].name)
        kind = InputKind.USER_INPUT if spec is None else spec.kind
        target = None if spec is None else spec.target
        specs.append(InputSpec(kind, argument, target, None if spec is None else spec.persistent))
    for node in [*carried, *part.nodes]:
        copied[node] = graph.node_copy(node, lambda source: copied[source])
        copied[node].meta.pop(TAG, None)
    by_name = {node.name: node for node in part.nodes}
    results = [(by_name[spec.arg.name], OutputKind.BUFFER_MUTATION, spec.target) for spec in part.mutations]
    results += [(node, OutputKind.USER_OUTPUT, None) for node in part.outputs]
    output = graph.output(tuple(copied[node] for node, _, _ in results))
    output.meta["val"] = tuple(node.meta["val"] for node, _, _ in results)
    outputs = [
        OutputSpec(kind, _argument(part, node, copied[node].name), target) for node, kind, target in results
    ]
    root = {str(node.target): attribute(part.module, str(node.target)) for node in carried}
    module = GraphModule(root, graph)
    state, constant_tensors = _tensors(owner, part)
    return ExportedProgram(
        root=module,
        graph=graph,
        graph_signature=ExportGraphSignature(specs, outputs),
        range_constraints=dict(owner.range_constraints),
        module_call_graph=[ModuleCallEntry("", _call_signature(specs, outputs))],
        state_dict=state,
        constants=constant_tensors,
    )


def _call_signature(inputs: Sequence[InputSpec], outputs: Sequence[OutputSpec]) -> ModuleCallSignature:
    given = tuple(spec.arg for spec in inputs if spec.kind is InputKind.USER_INPUT)
    results = tuple(spec.arg for spec in outputs if spec.kind is OutputKind.USER_OUTPUT)
    in_spec = pytree.tree_structure((given, {}))
    return ModuleCallSignature(list(given), list(results), in_spec, pytree.tree_structure(results))


def _tensors(owner: ExportedProgram, part: Part) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """The constants' tensors as (state dict, constants), split as `ExportedProgram` expects each kind."""
    state: dict[str, torch.Tensor] = {}
    constants: dict[str, Any] = {}
    for node, spec in part.constants.items():
        assert spec.target is not None
        attribute_of_body = node.op == "get_attr"
        value = attribute(part.module, str(node.target)) if attribute_of_body else stored_tensor(owner, spec)
        in_state = spec.kind is InputKind.PARAMETER or (spec.kind is InputKind.BUFFER and spec.persistent)
        (state if in_state else constants)[spec.target] = value
    return state, constants

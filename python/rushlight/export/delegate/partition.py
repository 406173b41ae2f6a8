# SPDX-License-Identifier: BSD-3-Clause
"""Delegation: a partitioner tags nodes; each tagged part is cut out, lowered and replaced by a delegate
call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, overload

from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from rushlight.errors import DelegationFailed
from rushlight.export.delegate.adjacency import adjacent_order, reorder
from rushlight.export.delegate.backends import find_backend, lower, lowered_module
from rushlight.export.delegate.bodies import get_control_flow_submodules
from rushlight.export.delegate.copies import copy_program
from rushlight.export.delegate.cut import Part, cut
from rushlight.export.delegate.insert import insert
from rushlight.export.delegate.interface import CompileSpec, DelegationSpec, Partitioner
from rushlight.export.delegate.lowered import LoweredBackendModule
from rushlight.export.delegate.sizes import sizes_stay
from rushlight.export.delegate.tagging import (
    TAG,
    clear_tags,
    computing_nodes,
    shape_of_graph,
    take_tags,
)


class AnyPartitioner(Protocol):
    """The interface that delegation needs of a partitioner: ours, the official package's and others satisfy
    it."""

    def partition(self, exported_program: ExportedProgram) -> Any: ...


@dataclass
class MethodProgramsPartitionerSpec:
    """The programs of several methods by name, and a partitioner for each."""

    method_to_edge_program: Mapping[str, ExportedProgram]
    method_to_partitioner: Mapping[str, AnyPartitioner]


@overload
def to_backend(
    first: str, second: ExportedProgram, compile_specs: list[CompileSpec]
) -> LoweredBackendModule: ...


@overload
def to_backend(first: ExportedProgram, second: AnyPartitioner) -> ExportedProgram: ...


@overload
def to_backend(first: MethodProgramsPartitionerSpec) -> dict[str, ExportedProgram]: ...


def to_backend(first: Any, second: Any = None, compile_specs: Sequence[Any] = ()) -> Any:
    """Lowers to backends, in three forms:

    `to_backend(backend_id, program, compile_specs)` lowers the whole program to a `LoweredBackendModule`.

    `to_backend(program, partitioner)` returns a program whose tagged parts are delegate calls.

    `to_backend(MethodProgramsPartitionerSpec(...))` does that for several methods and returns a dict by
    name.

    The arguments are not changed; tensors are shared. Errors: DelegationFailed.
    """
    if isinstance(first, str):
        return _whole(first, second, compile_specs)
    if isinstance(first, ExportedProgram):
        copied = copy_program(first)
        delegate({"forward": copied}, {"forward": second})
        return copied
    programs = {name: copy_program(program) for name, program in first.method_to_edge_program.items()}
    delegate(programs, first.method_to_partitioner)
    return programs


def _whole(backend_id: str, program: ExportedProgram, specs: Sequence[Any]) -> LoweredBackendModule:
    backend = find_backend(backend_id)
    try:
        with sizes_stay(program, f"backend '{backend_id}'", backend=backend_id):
            result = backend.preprocess(copy_program(program), list(specs))
    except DelegationFailed:
        raise
    except Exception as error:
        raise DelegationFailed(
            f"backend '{backend_id}' failed: {type(error).__name__}: {error}", backend=backend_id
        ) from error
    return lowered_module(backend_id, program, specs, result)


def delegate(
    programs: Mapping[str, ExportedProgram], partitioners: Mapping[str, AnyPartitioner | Partitioner]
) -> None:
    """Tags the programs of the methods with their partitioners and lowers the tagged parts, in place. If it
    fails, the programs still compute the same results. Errors: DelegationFailed."""
    parts: dict[str, list[Part]] = {}
    try:
        for method, partitioner in partitioners.items():
            parts[method] = _parts(programs[method], partitioner)
        lowered = lower(parts)
    finally:
        for program in programs.values():
            clear_tags(program)
    for method, found in parts.items():
        insert(programs[method], [(part, lowered[id(part)]) for part in found])


def _parts(program: ExportedProgram, partitioner: AnyPartitioner) -> list[Part]:
    specs = _tag(program, partitioner)
    return _parts_of_graph(program, program.graph_module, specs)


def _tag(program: ExportedProgram, partitioner: AnyPartitioner) -> Mapping[str, DelegationSpec]:
    """Calls the partitioner. Errors: DelegationFailed if it changed the graph or fixed a dynamic size."""
    before = shape_of_graph(program.graph_module)
    with sizes_stay(program, type(partitioner).__name__):
        result = partitioner.partition(program)
    tagged = result.tagged_exported_program
    for graph_module in (program.graph_module, tagged.graph_module):
        if shape_of_graph(graph_module) != before:
            raise DelegationFailed(
                f"{type(partitioner).__name__}: expected tags only, got a changed graph",
                next_step="Change graphs in a pass, or in transform_for_pre_decomposition.",
            )
    take_tags(tagged, program)
    specs: Mapping[str, DelegationSpec] = result.partition_tags
    return specs


def _parts_of_graph(
    program: ExportedProgram, module: GraphModule, specs: Mapping[str, DelegationSpec]
) -> list[Part]:
    """The parts of a graph in the order of their calls, then the parts of the control-flow bodies that stay
    in it."""
    module.graph.eliminate_dead_code()
    if module is program.graph_module:
        _check_placeholders(program)
    tag_of = computing_nodes(module, specs)
    order = adjacent_order(module.graph, tag_of)
    reorder(module.graph, order)
    nodes: dict[str, list[Node]] = {}
    for node in order:
        if node in tag_of:
            nodes.setdefault(tag_of[node], []).append(node)
    parts = [Part(tag, specs[tag], module, members) for tag, members in nodes.items()]
    for part in parts:
        cut(program, part)
    staying = {id(body): body for _, body, node in get_control_flow_submodules(module) if node not in tag_of}
    return parts + [part for body in staying.values() for part in _parts_of_graph(program, body, specs)]


def _check_placeholders(program: ExportedProgram) -> None:
    """Errors: DelegationFailed if an input of the method is tagged."""
    users = set(program.graph_signature.user_inputs)
    for node in program.graph.find_nodes(op="placeholder"):
        if node.meta.get(TAG) and node.name in users:
            raise DelegationFailed(
                f"input '{node.name}': expected no tag, got '{node.meta[TAG]}': only constants can be tagged",
                tag=node.meta[TAG],
            )

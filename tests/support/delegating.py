# SPDX-License-Identifier: BSD-3-Clause
"""Partitioners and backends for tests of delegation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.fx import Node
from torch.fx.passes.operator_support import OperatorSupportBase

from rushlight.export.delegate import (
    BackendDetails,
    CompileSpec,
    DelegationSpec,
    LoweredBackendModule,
    Partitioner,
    PartitionResult,
    PreprocessResult,
    delegate_calls,
)
from rushlight.export.graph.nodes import graph_modules


def name_of(node: Node) -> str:
    """The called operator without namespace and overload; empty for other nodes."""
    if isinstance(node.target, OpOverload):
        return node.target._schema.name.partition("::")[2]
    return getattr(node.target, "__name__", "") if node.op == "call_function" else ""


class Named(OperatorSupportBase):
    """Supports operators by their short names."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def is_node_supported(self, submodules: Mapping[str, Any], node: Node) -> bool:
        return name_of(node) in self.names


class Recorder(BackendDetails):
    """A backend whose payload lists the names of the operators."""

    @staticmethod
    def preprocess(edge_program: ExportedProgram, compile_specs: list[CompileSpec]) -> PreprocessResult:
        names = [name_of(node) for node in edge_program.graph.nodes if node.op == "call_function"]
        return PreprocessResult(" ".join(names).encode())


class SecondRecorder(BackendDetails):
    """A second backend of the same kind."""

    preprocess = Recorder.preprocess


class Tagging(Partitioner):
    """Tags nodes by a function, in the bodies of control flow too, and then the nodes that `after` tags. Tags
    that begin with "second" go to `SecondRecorder`, tags that begin with "no" to no backend, all others to
    `Recorder`."""

    def __init__(
        self, tag: Callable[[Node], str | None], *after: Callable[[ExportedProgram], None], specs: Any = ()
    ) -> None:
        super().__init__()
        self.tag = tag
        self.after = after
        self.specs = list(specs)

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        tags: dict[str, DelegationSpec] = {}
        for module in graph_modules(exported_program.graph_module):
            for node in module.graph.nodes:
                tag = self.tag(node)
                if not tag:
                    continue
                node.meta["delegation_tag"] = tag
                if not tag.startswith("no"):
                    backend = "SecondRecorder" if tag.startswith("second") else "Recorder"
                    tags[tag] = DelegationSpec(backend, self.specs)
        for each in self.after:
            each(exported_program)
        return PartitionResult(exported_program, tags)


class To(Tagging):
    """Delegates everything to one backend."""

    def __init__(self, backend_id: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.backend_id = backend_id

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        result = super().partition(exported_program)
        result.partition_tags = {
            tag: spec._replace(backend_id=self.backend_id) for tag, spec in result.partition_tags.items()
        }
        return result


def by_name(**tags: str) -> Callable[[Node], str | None]:
    """A tag for each operator, by its short name."""
    return lambda node: tags.get(name_of(node))


def lowered(program: ExportedProgram) -> list[LoweredBackendModule]:
    """The parts that a program delegates, in order."""
    return [module for _, module in delegate_calls(program.graph_module)]


def payloads(program: ExportedProgram) -> list[str]:
    """The backend's payload of each part."""
    return [module.processed_bytes.decode() for module in lowered(program)]

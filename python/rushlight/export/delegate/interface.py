# SPDX-License-Identifier: BSD-3-Clause
"""The classes that authors of backends write: a `Partitioner`, which tags nodes, and a `BackendDetails`,
which compiles the tagged part of a program to bytes.

Names and signatures equal `executorch.exir.backend`'s: code written for it works here after a change of
imports, on graphs whose operators are `torch.ops.aten.*`. Subclassing is not required: an object with the
same attributes is accepted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.fx import Node

from rushlight.export.delegate.copies import copy_program
from rushlight.export.delegate.named_data import NamedDataStoreOutput


@dataclass
class CompileSpec:
    """A setting for the backend, passed to `preprocess` and stored in the program for the backend's
    `init`."""

    key: str
    value: bytes


class DelegationSpec(NamedTuple):
    """The backend id for a tag, and its settings."""

    backend_id: str
    compile_specs: list[CompileSpec]


@dataclass
class PartitionResult:
    """The tagged program, and a DelegationSpec for each tag in `node.meta["delegation_tag"]`."""

    tagged_exported_program: ExportedProgram
    partition_tags: dict[str, DelegationSpec]


@dataclass
class PreprocessResult:
    """A compiled part: the payload, a map from the backend's own identifiers to debug handles of nodes, and
    blobs stored by name."""

    processed_bytes: bytes = b""
    debug_handle_map: dict[int, tuple[int, ...]] | dict[str, tuple[int, ...]] | None = None
    data_store_output: NamedDataStoreOutput | None = None
    _delegate_info_meta: Any = None


class Partitioner(ABC):
    """Assigns nodes of a program to backends."""

    def __init__(self, spec: Mapping[Any, object] = MappingProxyType({})) -> None:
        self._spec = spec

    @property
    def spec(self) -> Mapping[Any, object]:
        """The partitioner's settings."""
        return self._spec

    def __call__(self, exported_program: ExportedProgram) -> PartitionResult:
        return self.partition(exported_program)

    @abstractmethod
    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        """Sets `node.meta["delegation_tag"]` on the nodes to delegate, including those in bodies of control
        flow, and returns the same program with a `DelegationSpec` for each tag. Must not change the graph.

        The nodes of one tag in one graph become one delegate. A tag on the placeholder of a constant moves
        the constant into the delegate (`tagging.tag_constant_data` tags all of them).
        """

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[OpOverload], Callable[[Node], bool] | None]:
        """Operators to keep undecomposed for the backend, and a filter: only calls for which it returns True
        are kept. A filter of None keeps all calls."""
        return [], None

    def transform_for_pre_decomposition(self, exported_program: ExportedProgram) -> ExportedProgram:
        """Changes the program before decomposition; returns the program to continue with."""
        return exported_program


class BackendDetails(ABC):
    """The export-time half of a backend. The name of the class is the backend's id."""

    @classmethod
    def copy_exported_program_for_preprocess(
        cls, edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> ExportedProgram:
        """The program to pass to `preprocess`, which may change its graph. The weights are not copied."""
        return copy_program(edge_program)

    @staticmethod
    @abstractmethod
    def preprocess(edge_program: ExportedProgram, compile_specs: list[CompileSpec]) -> PreprocessResult:
        """Compiles a part of a program. Its constants are lifted: the placeholders are parameters, buffers
        and constants first, then the inputs in the order of the delegate call."""

    @classmethod
    def preprocess_multimethod(
        cls,
        edge_programs: dict[str, list[ExportedProgram]],
        compile_specs: dict[str, list[list[CompileSpec]]],
    ) -> dict[str, list[PreprocessResult]]:
        """Compiles all parts of all methods. Arguments and result are keyed by method, each with a list in
        the order of the delegate calls. Override it to share data among delegates."""
        return {
            method: [
                cls.preprocess(program, specs)
                for program, specs in zip(programs, compile_specs[method], strict=True)
            ]
            for method, programs in edge_programs.items()
        }

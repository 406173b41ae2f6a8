# SPDX-License-Identifier: BSD-3-Clause
"""What the authors of backends write: a `Partitioner` that tags nodes, a `BackendDetails` that turns the
tagged part of a program into bytes.

Names and signatures are those of `executorch.exir.backend`: code written for it runs here with the imports
changed, on graphs whose operators are `torch.ops.aten.*`. Nothing here asks for these classes: an object with
the same attributes does.
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
    """A setting for the backend. It is given to `preprocess`, and stored in the program for `init`."""

    key: str
    value: bytes


class DelegationSpec(NamedTuple):
    """Which backend takes the nodes of a tag, and its settings."""

    backend_id: str
    compile_specs: list[CompileSpec]


@dataclass
class PartitionResult:
    """The tagged program, and what each tag in `node.meta["delegation_tag"]` stands for."""

    tagged_exported_program: ExportedProgram
    partition_tags: dict[str, DelegationSpec]


@dataclass
class PreprocessResult:
    """What a backend made of a part: the delegate's bytes, a map from its own identifiers to the debug
    handles of nodes, and blobs stored by name."""

    processed_bytes: bytes = b""
    debug_handle_map: dict[int, tuple[int, ...]] | dict[str, tuple[int, ...]] | None = None
    data_store_output: NamedDataStoreOutput | None = None
    _delegate_info_meta: Any = None


class Partitioner(ABC):
    """Says which nodes of a program go to which backend."""

    def __init__(self, spec: Mapping[Any, object] = MappingProxyType({})) -> None:
        self._spec = spec

    @property
    def spec(self) -> Mapping[Any, object]:
        """Settings of the partitioner's own."""
        return self._spec

    def __call__(self, exported_program: ExportedProgram) -> PartitionResult:
        return self.partition(exported_program)

    @abstractmethod
    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        """Sets `node.meta["delegation_tag"]` on the nodes to delegate, in the bodies of control flow too,
        and returns the same program with a `DelegationSpec` for each tag. The graph stays as it is.

        The nodes of one tag in one graph become one delegate. A tag on the placeholder of a constant moves
        the constant into the delegate (`tagging.tag_constant_data` does that for all)."""

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[OpOverload], Callable[[Node], bool] | None]:
        """Operators to keep whole for the backend, and a filter: only calls that it returns True for are
        kept. None keeps them all."""
        return [], None

    def transform_for_pre_decomposition(self, exported_program: ExportedProgram) -> ExportedProgram:
        """Changes the program before it is decomposed; returns the one to go on with."""
        return exported_program


class BackendDetails(ABC):
    """The part of a backend that runs at export. The class has the name of the backend's id."""

    @classmethod
    def copy_exported_program_for_preprocess(
        cls, edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> ExportedProgram:
        """The program to give to `preprocess`, which may change its graph. The weights are not copied."""
        return copy_program(edge_program)

    @staticmethod
    @abstractmethod
    def preprocess(edge_program: ExportedProgram, compile_specs: list[CompileSpec]) -> PreprocessResult:
        """Compiles a part of a program. Its constants are lifted: parameters, buffers and constants come
        first among the placeholders, then the inputs in the order of the delegate call."""

    @classmethod
    def preprocess_multimethod(
        cls,
        edge_programs: dict[str, list[ExportedProgram]],
        compile_specs: dict[str, list[list[CompileSpec]]],
    ) -> dict[str, list[PreprocessResult]]:
        """Compiles all parts of all methods, by method and in the order of their calls. A backend that
        shares data among its delegates overrides this one."""
        return {
            method: [
                cls.preprocess(program, specs)
                for program, specs in zip(programs, compile_specs[method], strict=True)
            ]
            for method, programs in edge_programs.items()
        }

# SPDX-License-Identifier: BSD-3-Clause
"""Delegation: lowers parts of a program to backends, which execute them with their own code.

A `Partitioner` tags nodes, a `BackendDetails` compiles the tagged nodes to bytes; `to_backend` and
`delegate` replace them by `call_delegate` nodes. docs/adding-a-backend.md describes both classes.
"""

from __future__ import annotations

from rushlight.export.delegate.bodies import get_control_flow_submodules
from rushlight.export.delegate.interface import (
    BackendDetails,
    CompileSpec,
    DelegationSpec,
    Partitioner,
    PartitionResult,
    PreprocessResult,
)
from rushlight.export.delegate.lowered import LoweredBackendModule, call_delegate, delegate_calls
from rushlight.export.delegate.named_data import DataEntry, NamedDataStore, NamedDataStoreOutput
from rushlight.export.delegate.partition import MethodProgramsPartitionerSpec, delegate, to_backend
from rushlight.export.delegate.support import (
    generate_partitions_from_list_of_nodes,
    generate_pattern_op_partitions,
    propose_partitions,
)
from rushlight.export.delegate.tagging import tag_constant_data, tag_mutated_buffer

__all__ = [
    "BackendDetails",
    "CompileSpec",
    "DataEntry",
    "DelegationSpec",
    "LoweredBackendModule",
    "MethodProgramsPartitionerSpec",
    "NamedDataStore",
    "NamedDataStoreOutput",
    "PartitionResult",
    "Partitioner",
    "PreprocessResult",
    "call_delegate",
    "delegate",
    "delegate_calls",
    "generate_partitions_from_list_of_nodes",
    "generate_pattern_op_partitions",
    "get_control_flow_submodules",
    "propose_partitions",
    "tag_constant_data",
    "tag_mutated_buffer",
    "to_backend",
]

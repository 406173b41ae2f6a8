# SPDX-License-Identifier: BSD-3-Clause
"""The backend's half for the export: the partitioner chooses nodes, `preprocess` writes the payload."""

from __future__ import annotations

import struct

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from rushlight.export.delegate import (
    BackendDetails,
    CompileSpec,
    DelegationSpec,
    Partitioner,
    PartitionResult,
    PreprocessResult,
    tag_constant_data,
)

LINEAR, RELU = torch.ops.aten.linear.default, torch.ops.aten.relu.default
MAGIC = b"DNS1"


def constant(program: ExportedProgram, node: object) -> torch.Tensor | None:
    """The parameter that a placeholder stands for; None for any other argument."""
    name = program.graph_signature.inputs_to_parameters.get(getattr(node, "name", ""))
    return None if name is None else program.state_dict[name]


class DensePartitioner(Partitioner):
    """Takes chains of linear layers with constant float32 weights and bias, and the ReLU behind each."""

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        """Tags each chain with a separate name, in graph order."""
        tags: dict[str, DelegationSpec] = {}
        for node in exported_program.graph.nodes:
            if not self._is_dense(exported_program, node) or "delegation_tag" in node.meta:
                continue
            tag = f"dense{len(tags)}"
            tags[tag] = DelegationSpec(Dense.__name__, [])
            for member in self._chain(exported_program, node):
                member.meta["delegation_tag"] = tag
        tag_constant_data(exported_program)  # the weights of a tagged node move into its delegate
        return PartitionResult(exported_program, tags)

    def _chain(self, program: ExportedProgram, first: Node) -> list[Node]:
        """A layer and what follows it, as long as each result has one user: a chain cannot need itself."""
        chain = [first]
        while len(chain[-1].users) == 1:
            [user] = chain[-1].users
            follows = self._is_dense(program, user) or (user.target is RELU and chain[-1].target is LINEAR)
            if not follows or user.args[0] is not chain[-1]:
                break
            chain.append(user)
        return chain

    def _is_dense(self, program: ExportedProgram, node: Node) -> bool:
        if node.target is not LINEAR or len(node.args) != 3:
            return False
        constants = [constant(program, argument) for argument in node.args[1:]]
        return all(each is not None and each.dtype == torch.float32 for each in constants)


class Dense(BackendDetails):
    """Writes what backend/dense.h reads. The name of the class is the backend's id in the program."""

    @staticmethod
    def preprocess(edge_program: ExportedProgram, compile_specs: list[CompileSpec]) -> PreprocessResult:
        """The payload of one chain, whose nodes are in the order of the graph."""
        layers = edge_program.graph.find_nodes(op="call_function", target=LINEAR)
        payload = [MAGIC, struct.pack("<I", len(layers))]
        for layer in layers:
            weights, bias = (constant(edge_program, argument) for argument in layer.args[1:])
            assert weights is not None and bias is not None
            outputs, inputs = weights.shape
            relu = any(user.target is RELU for user in layer.users)
            payload.append(struct.pack("<3I", inputs, outputs, relu))
            payload += [each.detach().contiguous().numpy().tobytes() for each in (bias, weights)]
        return PreprocessResult(b"".join(payload))

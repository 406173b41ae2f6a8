# SPDX-License-Identifier: BSD-3-Clause
"""Two complete backends, the parts that run at export; the parts that run on devices are in
tests/conformance.

`Affine` takes relu(x * scale + bias) over the last dimension; `Tape` takes element-wise arithmetic of one
dtype and shape.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node
from torch.fx.passes.operator_support import OperatorSupportBase

from rushlight.export.delegate import (
    BackendDetails,
    CompileSpec,
    DelegationSpec,
    NamedDataStore,
    Partitioner,
    PartitionResult,
    PreprocessResult,
    propose_partitions,
    tag_constant_data,
)
from rushlight.export.graph.constants import Constants
from rushlight.export.graph.nodes import graph_modules

aten = torch.ops.aten


class Affine(BackendDetails):
    """u32 count, float scale[count], float bias[count]; with the compile spec "bias" the bias is named data
    under that key, with "external" too in a data file."""

    @staticmethod
    def preprocess(edge_program: ExportedProgram, compile_specs: list[CompileSpec]) -> PreprocessResult:
        constants = Constants(edge_program)
        scale, bias = (
            constants.get(edge_program.graph.find_nodes(op="call_function", target=target)[0].args[1])
            for target in (aten.mul.Tensor, aten.add.Tensor)
        )
        assert scale is not None and bias is not None
        store = NamedDataStore()
        stored = bias
        for spec in compile_specs:
            if spec.key == "bias":
                file = "weights" if any(other.key == "external" for other in compile_specs) else None
                store.add_named_data(spec.value.decode(), bias.numpy().tobytes(), external_tag=file)
                stored = torch.zeros_like(bias)
        payload = struct.pack("<I", scale.numel()) + scale.numpy().tobytes() + stored.numpy().tobytes()
        return PreprocessResult(payload, data_store_output=store.get_named_data_store_output())


class AffinePartitioner(Partitioner):
    """Takes mul and add with constant vectors, and the relu after them. `bias_key` stores the biases as named
    data, under this key and a number; biases after the first `inside` go into a data file."""

    def __init__(self, bias_key: str = "", inside: int = 100) -> None:
        super().__init__()
        self.bias_key = bias_key
        self.inside = inside

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        constants = Constants(exported_program)
        tags: dict[str, DelegationSpec] = {}
        for add in exported_program.graph.find_nodes(op="call_function", target=aten.add.Tensor):
            mul = add.args[0]
            vectors = [constants.get(node.args[1]) for node in (add, mul) if node.target in _AFFINE]
            if len(vectors) < 2 or any(each is None or each.dim() != 1 for each in vectors):
                continue
            tag, specs = f"affine{len(tags)}", []
            nodes = [mul, add]
            if [user.target for user in add.users] == [aten.relu.default]:
                nodes += add.users
                specs.append(CompileSpec("relu", b"\x01"))
            if self.bias_key:
                specs.append(CompileSpec("bias", f"{self.bias_key}{len(tags)}".encode()))
            if len(tags) >= self.inside:
                specs.append(CompileSpec("external", b""))
            for node in nodes:
                node.meta["delegation_tag"] = tag
            tags[tag] = DelegationSpec(Affine.__name__, specs)
        tag_constant_data(exported_program)
        return PartitionResult(exported_program, tags)


_AFFINE = {aten.mul.Tensor, aten.add.Tensor}

_STEPS = {
    aten.add.Tensor: 0,
    aten.add.Scalar: 0,
    aten.sub.Tensor: 1,
    aten.sub.Scalar: 1,
    aten.mul.Tensor: 2,
    aten.mul.Scalar: 2,
    aten.neg.default: 3,
    aten.relu.default: 4,
}
_DTYPES = {torch.float32: (6, "f"), torch.int64: (4, "q")}


class Tape(BackendDetails):
    """The format is described in tests/conformance/tape/tape.h."""

    @staticmethod
    def preprocess(edge_program: ExportedProgram, compile_specs: list[CompileSpec]) -> PreprocessResult:
        inputs = edge_program.graph.find_nodes(op="placeholder")
        calls = [node for node in edge_program.graph.nodes if node.op == "call_function"]
        number, code = _DTYPES[calls[0].meta["val"].dtype]
        constants = list(dict.fromkeys(a for node in calls for a in node.args if not isinstance(a, Node)))
        indices = {value: index for index, value in enumerate([*inputs, *constants, *calls])}
        steps = [
            value
            for node in calls
            for value in (_STEPS[node.target], indices[node.args[0]], indices[node.args[-1]])
        ]
        results = [indices[node] for node in edge_program.graph.output_node().args[0]]
        blob = struct.pack(f"<{len(constants)}{code}", *constants)
        key = f"tape-{hashlib.sha256(blob).hexdigest()[:16]}".encode() if constants else b""
        header = (number, len(inputs), len(constants), len(calls), len(results), len(key))
        words = [*header, *steps, *results]
        store = NamedDataStore()
        if constants:
            store.add_named_data(key.decode(), blob, alignment=8)
        payload = struct.pack(f"<{len(words)}I", *words) + key
        return PreprocessResult(payload, data_store_output=store.get_named_data_store_output())


class TapePartitioner(Partitioner):
    """Takes arithmetic of one dtype on tensors of one shape, at any position in the program."""

    def __init__(self, dtype: torch.dtype, *shape: Any) -> None:
        super().__init__()
        self.support = _Arithmetic(dtype, shape)

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        tags: dict[str, DelegationSpec] = {}
        for module in graph_modules(exported_program.graph_module):
            for found in propose_partitions(module, self.support):
                tag = f"tape{len(tags)}"
                tags[tag] = DelegationSpec(Tape.__name__, [])
                for node in found.nodes:
                    node.meta["delegation_tag"] = tag
        return PartitionResult(exported_program, tags)


class _Arithmetic(OperatorSupportBase):
    def __init__(self, dtype: torch.dtype, shape: Iterable[Any]) -> None:
        self.dtype = dtype
        self.shape = tuple(shape)

    def is_node_supported(self, submodules: Mapping[str, Any], node: Node) -> bool:
        if node.target not in _STEPS or node.kwargs:
            return False
        return isinstance(node.meta["val"], torch.Tensor) and all(map(self._takes, (node, *node.args)))

    def _takes(self, argument: Any) -> bool:
        if not isinstance(argument, Node):
            return isinstance(argument, int) or self.dtype.is_floating_point
        value = argument.meta["val"]
        if isinstance(value, torch.SymInt):
            return True
        if not isinstance(value, torch.Tensor) or value.dim() != len(self.shape) or value.dtype != self.dtype:
            return False
        return all(
            isinstance(got, torch.SymInt) == (want is None) and want in (None, got)
            for want, got in zip(self.shape, value.shape, strict=True)
        )

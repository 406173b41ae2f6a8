# SPDX-License-Identifier: BSD-3-Clause
"""Files that the official exporter lowers to XNNPACK: outputs of the official runtime, and of this runtime
for the files as they are and with plain calls instead of the delegates."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import executorch.kernels.quantized  # noqa: F401  has the out variants of quantized operators
import numpy as np
import torch
from executorch.backends.xnnpack.operators import node_visitor
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.runtime import Runtime
from torch import Tensor, nn
from torch.export import ExportedProgram
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

import rushlight
from rushlight.convert.api import Conversion, convert
from rushlight.convert.files import own_operators
from rushlight.program import read_model

Inputs = tuple[Tensor, ...]


@dataclass
class Lowered:
    """An official file: `visited` are the targets that its serializer converted to nodes, `nodes` the kinds
    of nodes, each with its dtype, `left` the targets that stayed plain calls, `data_files` the tensors
    outside of the program."""

    data: bytes
    visited: set[str]
    nodes: set[tuple[str, str]]
    left: list[str]
    data_files: dict[str, bytes]


def quantized(
    module: nn.Module, inputs: Inputs, *, per_channel: bool = True, dynamic: bool = False
) -> nn.Module:
    """The module with the official quantizer's int8, calibrated on the inputs and normal noise."""
    config = get_symmetric_quantization_config(is_per_channel=per_channel, is_dynamic=dynamic)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = torch.export.export(module, inputs).module(check_guards=False)
        prepared = prepare_pt2e(graph, XNNPACKQuantizer().set_global(config))
        for _ in range(3):
            prepared(*[torch.randn_like(value) for value in inputs])
        prepared(*inputs)
        return convert_pt2e(prepared)


def lower(
    module: nn.Module,
    inputs: Inputs,
    *,
    dynamic_shapes: Any = None,
    partitioners: Sequence[Any] | None = None,
    config: ExecutorchBackendConfig | None = None,
) -> Lowered:
    """The official file of a module."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = torch.export.export(module, inputs, dynamic_shapes=dynamic_shapes)
    return lower_methods({"forward": exported}, partitioners=partitioners, config=config)


def lower_methods(
    methods: dict[str, ExportedProgram],
    *,
    partitioners: Sequence[Any] | None = None,
    config: ExecutorchBackendConfig | None = None,
) -> Lowered:
    """The official file of exported methods."""
    visited: set[str] = set()
    nodes: set[tuple[str, str]] = set()
    chosen = list(partitioners or [XnnpackPartitioner()])
    with warnings.catch_warnings(), _recording(visited, nodes):
        warnings.simplefilter("ignore")
        edge = to_edge_transform_and_lower(dict(methods), partitioner=dict.fromkeys(methods, chosen))
    left = [_target(node) for name in methods for node in edge.exported_program(name).graph.nodes]
    made = edge.to_executorch(config or ExecutorchBackendConfig())
    files = {name: bytes(data) for name, data in made._tensor_data.items()}
    return Lowered(bytes(made.buffer), visited, nodes, [each for each in left if each], files)


NUMBERS = {
    "xnn_datatype_qdint8": "dynamic int8",
    "xnn_datatype_qint8": "static int8",
    "xnn_datatype_fp16": "float16",
    "xnn_datatype_fp32": "float32",
}
"""Dtypes by the official serializer's datatypes: a node has the first one that any of its inputs and outputs
has."""


def _numbers(node: Any, graph: Any) -> str:
    """The dtype of a serialized node. A value's id is its index in the graph."""
    ids = [
        getattr(node, field.name)
        for field in fields(node)
        if field.name.startswith(("input", "output")) and field.name.endswith("_id")
    ]
    values = [graph.xvalues[each].xvalue_union for each in ids if each < len(graph.xvalues)]
    datatypes = {getattr(value, "tensor_value", value).datatype.name for value in values}
    return next(kind for datatype, kind in NUMBERS.items() if datatype in datatypes)


class _recording:
    """Records the targets that the official serializer visits, and the nodes that it creates."""

    def __init__(self, visited: set[str], nodes: set[tuple[str, str]]) -> None:
        self.visited, self.nodes = visited, nodes
        self.kept = dict(node_visitor._node_visitor_dict)

    def __enter__(self) -> None:
        for target, make in self.kept.items():
            node_visitor._node_visitor_dict[target] = self._noted(target, make)

    def __exit__(self, *_: object) -> None:
        node_visitor._node_visitor_dict.update(self.kept)

    def _noted(self, target: str, make: Callable[..., Any]) -> Callable[..., Any]:
        def made(*arguments: Any) -> Any:
            visitor = make(*arguments)
            define = visitor.define_node

            def noted(node: Any, graph: Any, *words: Any, **named: Any) -> Any:
                self.visited.add(target)
                before = len(graph.xnodes)
                result = define(node, graph, *words, **named)
                for each in (entry.xnode_union for entry in graph.xnodes[before:]):
                    name = type(each).__name__.removeprefix("XNN")
                    self.nodes.add((name, _numbers(each, graph)))
                return result

            visitor.define_node = noted
            return visitor

        return made


def _target(node: torch.fx.Node) -> str:
    """The operator that a plain call of a lowered graph names; empty for delegates and their outputs."""
    name = getattr(node.target, "__name__", str(node.target))
    plain = node.op == "call_function" and "delegate" not in name and name != "getitem"
    return name if plain else ""


def official_outputs(
    lowered: Lowered, calls: Sequence[Inputs], method: str = "forward"
) -> list[list[Tensor]]:
    """The official runtime's outputs for each call."""
    program = Runtime.get().load_program(lowered.data)
    loaded = program.load_method(method)
    return [[each.clone() for each in loaded.execute(list(inputs))] for inputs in calls]


def converted(lowered: Lowered) -> Conversion:
    """The file with plain calls instead of delegates; checks that each delegate is replaced."""
    done = convert(read_model(memoryview(lowered.data)), own_operators())
    for method in done.methods:
        assert method.kept_delegates == []
    return done


def own_outputs(
    data: bytes, calls: Sequence[Inputs], method: str = "forward", data_files: Sequence[Path] = ()
) -> list[list[Any]]:
    """This runtime's outputs for each call, on one instance of the method."""
    loaded = rushlight.load(data, data_files=list(data_files)).load_method(method)
    return [[np.asarray(each).copy() for each in loaded.execute(list(inputs))] for inputs in calls]


def assert_same(found: list[list[Any]], expected: list[list[Tensor]], tolerance: float) -> None:
    """Checks that outputs are equal, or differ by at most `tolerance` times the output's largest value."""
    for got, wanted in zip(found, expected, strict=True):
        for own, official in zip(got, wanted, strict=True):
            reference = official.detach().numpy()
            assert own.shape == reference.shape and own.dtype == reference.dtype
            if tolerance == 0 or reference.dtype.kind in "iu":
                np.testing.assert_array_equal(own, reference)
                continue
            a, b = own.astype(np.float64), reference.astype(np.float64)
            largest = max(float(np.abs(b).max(initial=0)), 1e-30)
            assert np.isfinite(b).all() and float(np.abs(a - b).max(initial=0)) <= tolerance * largest


def largest_difference(found: list[list[Any]], expected: list[list[Tensor]]) -> float:
    """The largest difference of outputs, relative to the largest value of each."""
    worst = 0.0
    for own, official in zip(
        (each for got in found for each in got), (each for wanted in expected for each in wanted), strict=True
    ):
        a, b = own.astype(np.float64), official.detach().double().numpy()
        assert a.shape == b.shape and (np.isfinite(a) == np.isfinite(b)).all()
        error = np.abs(np.where(np.isfinite(b), a - b, 0)).max(initial=0)
        worst = max(worst, float(error) / max(float(np.abs(b).max(initial=0)), 1e-30))
    return worst


def check(lowered: Lowered, calls: Sequence[Inputs], tolerance: float, method: str = "forward") -> Conversion:
    """Checks that the file runs as it is and converted, both with the official outputs."""
    expected = official_outputs(lowered, calls, method)
    assert_same(own_outputs(lowered.data, calls, method), expected, tolerance)
    done = converted(lowered)
    assert_same(own_outputs(done.buffer, calls, method), expected, tolerance)
    return done

# SPDX-License-Identifier: BSD-3-Clause
"""Partitioners and backends written with the official package's classes are taken as they are."""

from __future__ import annotations

import pytest
import torch

from support.delegating import lowered, name_of, payloads
from support.graphs import Fn, assert_same, core_aten, operators

pytest.importorskip("executorch.exir", reason="needs the official package, to derive from its classes")

from executorch.exir._serialize._named_data_store import NamedDataStore
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.canonical_partitioners.pattern_op_partitioner import (
    generate_partitions_from_list_of_nodes,
)
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.utils import tag_constant_data
from torch.fx.passes.operator_support import OperatorSupportBase

from rushlight.errors import DelegationFailed
from rushlight.export import delegate as ours
from rushlight.export import export
from rushlight.export.delegate import call_delegate, to_backend
from rushlight.export.delegate.backends import known_backends

X, W = torch.randn(2, 3), torch.randn(3)


class OfficialBackend(BackendDetails):
    @staticmethod
    def preprocess(edge_program, compile_specs):
        names = [name_of(node) for node in edge_program.graph.nodes if node.op == "call_function"]
        for node in edge_program.graph.find_nodes(op="call_function", target=torch.ops.aten.add.Tensor):
            node.target = torch.ops.aten.sub.Tensor  # the partition is a separate graph
        edge_program.graph_module.recompile()
        store = NamedDataStore()
        store.add_named_data("names", " ".join(names).encode())
        return PreprocessResult(
            processed_bytes=b"official", data_store_output=store.get_named_data_store_output()
        )


class Products(OperatorSupportBase):
    def is_node_supported(self, submodules, node):
        return node.op == "call_function" and node.target in (
            torch.ops.aten.mul.Tensor,
            torch.ops.aten.add.Tensor,
        )


class OfficialPartitioner(Partitioner):
    def __init__(self, backend_id: str = "OfficialBackend") -> None:
        super().__init__()
        self.delegation_spec = DelegationSpec(backend_id, [CompileSpec("key", b"value")])

    def partition(self, exported_program):
        tags = {}
        found = generate_partitions_from_list_of_nodes(exported_program.graph_module, op_support=Products())
        for partition in found:
            for node in partition.nodes:
                node.meta["delegation_tag"] = f"tag{partition.id}"
            tags[f"tag{partition.id}"] = self.delegation_spec
        tag_constant_data(exported_program)
        return PartitionResult(tagged_exported_program=exported_program, partition_tags=tags)


def function(x, w=W):
    return (x * w + x).sin() * w


def test_an_official_partitioner_and_backend_are_taken() -> None:
    result = to_backend(core_aten(Fn(function, w=W), [X]), OfficialPartitioner())
    assert operators(result) == [
        "rushlight_call_delegate",
        "getitem",
        "sin",
        "rushlight_call_delegate",
        "getitem",
    ]
    first, second = lowered(result)
    assert first.backend_id == "OfficialBackend" and payloads(result) == ["official"] * 2
    assert first.named_data == {"names": b"mul add"} and second.named_data == {"names": b"mul"}
    assert [(spec.key, spec.value) for spec in first.compile_specs] == [("key", b"value")]
    assert [spec.kind.name for spec in first.original_module.graph_signature.input_specs] == [
        "BUFFER",
        "USER_INPUT",
    ]
    assert_same(result, function, X)


def test_an_official_partitioner_is_an_argument_of_export() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x * x + x).sin()

    program = export(Model(), (X,), partitioner=OfficialPartitioner()).program
    [found] = program.plans[0].delegates
    assert (found.id, bytes(found.payload)) == ("OfficialBackend", b"official")
    assert [(key, bytes(value)) for key, value in found.compile_specs] == [("key", b"value")]
    assert [key for key, _ in program.named_data] == ["names"]


def test_our_backend_takes_the_place_of_an_official_one_of_its_name() -> None:
    theirs = type("OfBoth", (BackendDetails,), {"preprocess": OfficialBackend.preprocess})
    assert known_backends()["OfBoth"] is theirs
    mine = type("OfBoth", (ours.BackendDetails,), {"preprocess": staticmethod(lambda p, s: None)})
    assert known_backends()["OfBoth"] is mine
    with pytest.raises(DelegationFailed, match="got NoneType"):
        to_backend(core_aten(Fn(function, w=W), [X]), OfficialPartitioner("OfBoth"))


def test_our_call_is_another_operator_than_the_official_one() -> None:
    from executorch.exir.delegate import executorch_call_delegate

    assert call_delegate is not executorch_call_delegate
    assert call_delegate.name() != executorch_call_delegate.name()


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("CompileSpec", "compile_spec_schema"),
        ("DelegationSpec", "partitioner"),
        ("PartitionResult", "partitioner"),
        ("Partitioner", "partitioner"),
        ("PreprocessResult", "backend_details"),
        ("BackendDetails", "backend_details"),
    ],
)
def test_our_classes_have_what_the_official_ones_have(name: str, module: str) -> None:
    import importlib
    import inspect

    theirs = getattr(importlib.import_module(f"executorch.exir.backend.{module}"), name)
    mine = getattr(ours, name)
    assert list(inspect.signature(mine).parameters) == list(inspect.signature(theirs).parameters)
    public = {key for key in vars(theirs) if not key.startswith("_")}
    assert public - set(vars(mine)) == set()
    for key in public:
        member = inspect.getattr_static(theirs, key)
        if inspect.isfunction(member) or isinstance(member, (staticmethod, classmethod)):
            expected = inspect.signature(getattr(theirs, key)).parameters
            assert list(inspect.signature(getattr(mine, key)).parameters) == list(expected), key

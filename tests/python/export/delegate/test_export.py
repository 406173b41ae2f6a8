# SPDX-License-Identifier: BSD-3-Clause
"""Delegation as a part of an export."""

from __future__ import annotations

import pytest
import torch

from rushlight.errors import DelegationFailed, ExportFailed, NotExportable
from rushlight.export import OperatorLibrary, export
from rushlight.export.delegate import BackendDetails, CompileSpec, NamedDataStore, PreprocessResult
from rushlight.export.options import MethodSource
from rushlight.program import read_data_file
from rushlight.program.model import DelegateCall, TensorInfo
from support.delegating import Tagging, To, by_name

X = torch.randn(2, 3)


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sin(x).cos() - torch.sin(x + 1)


def test_the_call_has_its_inputs_and_then_its_outputs() -> None:
    class Two(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return (x.sum(1) + y).neg(), y.exp()

    program = export(
        Two(), (X, torch.ones(2)), partitioner=Tagging(by_name(sum="a", add="a", neg="a"))
    ).program
    [plan] = program.plans
    [call] = [i for i in plan.instructions if isinstance(i, DelegateCall)]
    tensors = [plan.values[index].data for index in call.arguments]
    assert all(isinstance(tensor, TensorInfo) for tensor in tensors)
    assert [tensor.sizes for tensor in tensors] == [(2, 3), (2,), (2,)]
    assert call.arguments[:2] == plan.inputs and call.arguments[2] == plan.outputs[0]


def test_outputs_keep_the_order_of_their_dimensions() -> None:
    class ChannelsLast(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.to(memory_format=torch.channels_last).sin()

    inputs = (torch.randn(1, 2, 3, 4),)
    [plan] = export(ChannelsLast(), inputs, partitioner=Tagging(by_name(sin="a"))).program.plans
    [call] = [i for i in plan.instructions if isinstance(i, DelegateCall)]
    assert [plan.values[index].data.dim_order for index in call.arguments] == [(0, 2, 3, 1)] * 2


def test_a_delegate_never_writes_what_it_reads() -> None:
    class State(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.zeros(2, 3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.total.add_(x)
            return x.relu()

    [plan] = export(State(), (X,), partitioner=Tagging(by_name(add="a", relu="a"))).program.plans
    [call] = [i for i in plan.instructions if isinstance(i, DelegateCall)]
    tensors = [plan.values[index].data for index in call.arguments]
    assert len({(tensor.memory_id, tensor.memory_offset) for tensor in tensors}) == 4


def test_payload_and_compile_specs_are_in_the_program() -> None:
    tagging = Tagging(by_name(sin="second", cos="second"), specs=[CompileSpec("key", b"value")])
    [plan] = export(Model(), (X,), partitioner=Tagging(by_name(cos="a"))).program.plans
    assert [(d.id, bytes(d.payload), d.compile_specs) for d in plan.delegates] == [("Recorder", b"cos", ())]
    with pytest.raises(DelegationFailed, match="'second' -> 'a' -> 'second'"):
        export(Model(), (X,), partitioner=Tagging(by_name(sin="second", cos="second", add="a", sub="a")))
    [plan] = export(Model(), (X,), partitioner=tagging).program.plans
    [found] = plan.delegates
    assert found.id == "SecondRecorder" and bytes(found.compile_specs[0][1]) == b"value"


def test_partitioners_take_turns() -> None:
    partitioners = [Tagging(by_name(cos="a")), Tagging(by_name(sub="second"))]
    [plan] = export(Model(), (X,), partitioner=partitioners).program.plans
    assert {delegate.id for delegate in plan.delegates} == {"Recorder", "SecondRecorder"}


class Counting(BackendDetails):
    """Every delegate knows how many there are, and they share a blob."""

    @staticmethod
    def preprocess(edge_program, compile_specs):
        raise AssertionError("not called")

    @classmethod
    def preprocess_multimethod(cls, edge_programs, compile_specs):
        count = bytes([sum(map(len, edge_programs.values()))])
        store = NamedDataStore()
        store.add_named_data("shared", b"blob")
        result = PreprocessResult(count, data_store_output=store.get_named_data_store_output())
        return {method: [result] * len(programs) for method, programs in edge_programs.items()}


def test_a_backend_sees_its_parts_of_all_methods_at_once() -> None:
    sources = {name: MethodSource(Model(), (X,)) for name in ("one", "two")}
    program = export(sources, partitioner=To("Counting", by_name(cos="a"))).program
    assert [bytes(plan.delegates[0].payload) for plan in program.plans] == [b"\x02", b"\x02"]
    assert [key for key, _ in program.named_data] == ["shared"]


class Conflicting(BackendDetails):
    @staticmethod
    def preprocess(edge_program, compile_specs):
        store = NamedDataStore()
        store.add_named_data("key", str(edge_program.graph).encode())
        return PreprocessResult(data_store_output=store.get_named_data_store_output())


def test_one_name_for_two_blobs_is_refused() -> None:
    assert export(Model(), (X,), partitioner=To("Conflicting", by_name(cos="a"))).buffer
    with pytest.raises(ExportFailed, match="'key'"):
        export(Model(), (X,), partitioner=To("Conflicting", by_name(cos="a", sub="b")))


@pytest.mark.parametrize("backends", [[], ["Other"]])
def test_a_backend_that_the_build_does_not_have_is_named_with_the_line(backends: list[str]) -> None:
    tagging = Tagging(by_name(cos="a"))
    with pytest.raises(NotExportable, match=r"expected a backend of the build .*, got 'Recorder'") as caught:
        export(Model(), (X,), partitioner=tagging, backends=backends)
    [problem] = caught.value.problems
    assert problem.operator == "delegate 'Recorder'" and __file__ in problem.where
    assert export(Model(), (X,), partitioner=tagging, backends=["Recorder"]).buffer


def test_what_a_delegate_takes_needs_no_kernel() -> None:
    library = OperatorLibrary.default().without("aten::cos.out")
    with pytest.raises(NotExportable, match="cos"):
        export(Model(), (X,), operators=library)
    assert export(Model(), (X,), operators=library, partitioner=Tagging(by_name(cos="a"))).buffer


def test_a_partitioner_may_keep_operators_whole_and_transform_before() -> None:
    class Keeping(Tagging):
        def ops_to_not_decompose(self, ep):
            return [torch.ops.aten.softplus.default], None

        def transform_for_pre_decomposition(self, exported_program):
            for node in exported_program.graph.find_nodes(
                op="call_function", target=torch.ops.aten.sin.default
            ):
                node.target = torch.ops.aten.cos.default
            return exported_program

    class Soft(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.softplus(x.sin())

    [plan] = export(Soft(), (X,), partitioner=Keeping(by_name(softplus="a", cos="a"))).program.plans
    assert [bytes(delegate.payload) for delegate in plan.delegates] == [b"cos softplus"]


@pytest.mark.parametrize("accepts", [True, False])
def test_a_filter_says_which_calls_are_kept_whole(accepts: bool) -> None:
    class Filtering(Tagging):
        def ops_to_not_decompose(self, ep):
            return [torch.ops.aten.softplus.default], lambda node: accepts and "softplus" in node.name

    class Soft(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.softplus(x)

    library = OperatorLibrary.default().without("aten::softplus.out")
    tagging = Filtering(by_name(softplus="a"))
    [plan] = export(Soft(), (X,), operators=library, partitioner=tagging).program.plans
    assert len(plan.delegates) == accepts


def test_blobs_of_data_files_are_in_the_data_file() -> None:
    class Leaving(BackendDetails):
        @staticmethod
        def preprocess(edge_program, compile_specs):
            store = NamedDataStore()
            store.add_named_data("inside", b"in")
            store.add_named_data("outside", b"out", external_tag="weights")
            return PreprocessResult(data_store_output=store.get_named_data_store_output())

    exported = export(Model(), (X,), partitioner=To("Leaving", by_name(cos="a")))
    assert [key for key, _ in exported.program.named_data] == ["inside"]
    data = read_data_file(exported.data_buffer)
    assert data.keys() == ("outside",) and bytes(data.entry("outside").data) == b"out"


def test_the_debug_record_names_the_backend_and_a_line() -> None:
    exported = export(Model(), (X,), partitioner=Tagging(by_name(cos="a")))
    origins = exported.report.methods[0].origins
    [traced] = [o.node for o in origins if o.node is not None and "delegate" in o.node.name]
    assert __file__ in traced.meta["stack_trace"]


def test_progress_goes_forward() -> None:
    told: list[float] = []
    sources = {name: MethodSource(Model(), (X,)) for name in ("one", "two")}
    export(sources, partitioner=Tagging(by_name(cos="a")), progress=lambda what, share: told.append(share))
    assert told == sorted(told) and 0 <= told[0] <= told[-1] < 1

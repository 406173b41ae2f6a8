# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch.export.graph_signature import InputKind, OutputKind

from rushlight.errors import DelegationFailed
from rushlight.export.delegate import (
    BackendDetails,
    CompileSpec,
    MethodProgramsPartitionerSpec,
    PreprocessResult,
    delegate,
    delegate_calls,
    tag_constant_data,
    tag_mutated_buffer,
    to_backend,
)
from rushlight.export.passes.remove_dead_code import RemoveDeadCode
from rushlight.export.passes.remove_no_ops import RemoveNoOps
from rushlight.export.pipeline import PassContext
from support.delegating import Tagging, To, by_name, lowered, payloads
from support.graphs import Fn, apply, assert_same, core_aten, operators, run

X = torch.randn(2, 3)
W, B = torch.randn(3), torch.randn(3)
CALL = ["rushlight_call_delegate", "getitem"]


def kinds(program):
    """The kind of each input, in order."""
    return [spec.kind.name for spec in program.graph_signature.input_specs]


def test_tagged_nodes_become_one_call() -> None:
    program = core_aten(lambda x: torch.relu(x * 2 + x).neg(), [X])
    result = to_backend(program, Tagging(by_name(add="a", relu="a")))
    result.validate()
    assert operators(result) == ["mul", *CALL, "neg"]
    assert payloads(result) == ["add relu"]
    assert_same(result, lambda x: torch.relu(x * 2 + x).neg(), X)


def test_the_given_program_is_left_as_it_was() -> None:
    program = core_aten(
        lambda x: torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,)) + 1, [X]
    )
    before = [str(module) for module in program.graph_module.modules()]
    to_backend(program, Tagging(by_name(add="a", sin="b")))
    assert [str(module) for module in program.graph_module.modules()] == before
    assert not any("delegation_tag" in node.meta for node in program.graph.nodes)


def test_delegate_works_in_place_and_takes_the_tags_off() -> None:
    program = core_aten(lambda x: x.sin().cos(), [X])
    delegate({"forward": program}, {"forward": Tagging(by_name(sin="a"))})
    assert operators(program) == [*CALL, "cos"]
    assert not any("delegation_tag" in node.meta for node in program.graph.nodes)


def test_several_backends_and_tags_in_one_program() -> None:
    def function(x):
        return (x.sin().cos() + x).exp()

    result = to_backend(
        core_aten(function, [X]),
        Tagging(by_name(sin="a", cos="second", exp="b"), specs=[CompileSpec("k", b"v")]),
    )
    assert payloads(result) == ["sin", "cos", "exp"]
    assert [module.backend_id for module in lowered(result)] == ["Recorder", "SecondRecorder", "Recorder"]
    assert lowered(result)[0].compile_specs == [CompileSpec("k", b"v")]
    assert_same(result, function, X)


def test_partitioners_follow_one_another() -> None:
    program = core_aten(lambda x: x.sin().cos().exp(), [X])
    once = to_backend(program, Tagging(by_name(sin="a")))
    twice = to_backend(once, Tagging(by_name(cos="second")))
    assert [module.backend_id for module in lowered(twice)] == ["Recorder", "SecondRecorder"]
    assert_same(twice, lambda x: x.sin().cos().exp(), X)


def test_a_tag_without_nodes_is_nothing() -> None:
    result = to_backend(core_aten(lambda x: x.sin(), [X]), Tagging(by_name(cos="a")))
    assert operators(result) == ["sin"]


def test_inputs_and_outputs_are_in_the_order_of_the_graph() -> None:
    def function(x, y):
        a, b = x.sin(), y.cos()
        return b.neg(), a.neg(), (b - a)

    result = to_backend(core_aten(function, [X, X + 1]), Tagging(by_name(sin="a", cos="a", sub="a")))
    part = lowered(result)[0].original_module
    assert part.graph_signature.user_inputs == ("args_0", "args_1")
    assert part.graph_signature.user_outputs == ("sin", "cos", "sub")
    assert_same(result, function, X, X + 1)


def test_nodes_between_two_uses_move_out_of_the_way() -> None:
    def function(x):
        a = x.sin()
        b = x.exp()  # between the two in the graph, yet of neither
        return a.cos() + b

    result = to_backend(core_aten(function, [X]), Tagging(by_name(sin="a", cos="a")))
    assert sorted(operators(result)) == sorted(["exp", *CALL, "add"])
    assert_same(result, function, X)


def test_several_results_of_one_operator() -> None:
    def function(x):
        values, indices = torch.topk(x, 2)
        left, right = x.split([1, 2], dim=1)
        return values, indices, left + 1, right

    result = to_backend(core_aten(function, [X]), Tagging(by_name(topk="a", split_with_sizes_copy="b")))
    assert len(lowered(result)) == 2
    assert_same(result, function, X)


def test_results_that_nobody_reads_are_no_outputs() -> None:
    def function(x):
        return torch.topk(x, 2).values.neg()

    result = to_backend(core_aten(function, [X]), Tagging(by_name(topk="a")))
    assert lowered(result)[0].original_module.graph_signature.user_outputs == ("getitem",)
    assert_same(result, function, X)


def test_dead_nodes_are_not_delegated() -> None:
    program = core_aten(lambda x: x.sin(), [X])
    with program.graph.inserting_after(program.graph.find_nodes(op="placeholder")[0]):
        dead = program.graph.call_function(
            torch.ops.aten.cos.default, (program.graph.output_node().prev.args[0],)
        )
        dead.meta["val"] = program.graph.output_node().prev.meta["val"]
    result = to_backend(program, Tagging(by_name(cos="a")))
    assert operators(result) == ["sin"]


def test_one_result_returned_twice_and_an_input_returned() -> None:
    def function(x):
        y = x.sin()
        return y, x, y

    result = to_backend(core_aten(function, [X]), Tagging(by_name(sin="a")))
    result.validate()
    assert len(lowered(result)[0].original_module.graph_signature.user_outputs) == 1
    assert_same(result, function, X)


def test_sizes_as_inputs_and_outputs() -> None:
    def function(x):
        n = x.shape[0] * 2
        return torch.full((n, 2), 1.5).neg(), x.sum() + n

    batch = torch.export.Dim("batch", min=2, max=8)
    program = core_aten(function, [X], ({0: batch},))
    size_inside = to_backend(program, Tagging(by_name(sym_size="a", mul="a")))
    size_outside = to_backend(program, Tagging(by_name(full="a", neg="a")))
    outputs = lowered(size_inside)[0].original_module.graph_signature.output_specs
    inputs = lowered(size_outside)[0].original_module.graph_signature.input_specs
    assert [type(spec.arg).__name__ for spec in outputs] == ["SymIntArgument"]
    assert [type(spec.arg).__name__ for spec in inputs] == ["SymIntArgument"]
    for result in (size_inside, size_outside):
        result.validate()
        assert_same(result, function, torch.randn(5, 3))


def test_a_constant_stays_outside_unless_tagged() -> None:
    program = core_aten(Fn(lambda x, w: (x * w).neg(), w=W), [X])
    result = to_backend(program, Tagging(by_name(mul="a")))
    assert kinds(lowered(result)[0].original_module) == ["USER_INPUT", "USER_INPUT"]
    assert kinds(result) == ["BUFFER", "USER_INPUT"]


def test_a_tagged_constant_moves_inside() -> None:
    module = nn.Linear(3, 4)
    result = to_backend(core_aten(module, [X]), Tagging(by_name(linear="a"), tag_constant_data))
    part = lowered(result)[0].original_module
    assert kinds(part) == ["PARAMETER", "PARAMETER", "USER_INPUT"]
    assert part.state_dict["weight"].data_ptr() == module.weight.data_ptr()
    assert kinds(result) == ["USER_INPUT"] and not result.state_dict
    assert_same(result, module, X)


def test_a_tagged_constant_that_several_read_is_copied_into_each() -> None:
    program = core_aten(Fn(lambda x, w: (x * w).sin() + (x - w) * 1 / w, w=W), [X])
    result = to_backend(program, Tagging(by_name(mul="a", sub="second"), tag_constant_data))
    first, second = (module.original_module for module in lowered(result))
    assert kinds(first)[0] == kinds(second)[0] == "BUFFER"
    assert kinds(result) == ["BUFFER", "USER_INPUT"]  # the division reads it too
    assert_same(result, lambda x: (x * W).sin() + (x - W) * 1 / W, X)


def test_a_constant_that_may_not_be_copied_is_refused_where_others_read_it() -> None:
    program = core_aten(Fn(lambda x, w: (x * w).sin() - w, w=W), [X])

    def pin(program):
        tag_constant_data(program)
        program.graph.find_nodes(op="placeholder")[0].meta["no_copy"] = True

    with pytest.raises(DelegationFailed, match=r"'b_w': .*may not be copied.*\n.*sub"):
        to_backend(program, Tagging(by_name(mul="a"), pin))
    assert payloads(to_backend(program, Tagging(by_name(mul="a", sub="a", sin="a"), pin))) == ["mul sin sub"]


class Counter(nn.Module):
    """A buffer that grows by the input, and twice what it was."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        before = self.total.mul(2)
        self.total.add_(x)
        return before


def test_the_new_value_of_a_buffer_is_an_output_and_the_program_writes_it() -> None:
    result = to_backend(core_aten(Counter(), [W]), Tagging(by_name(add="a", mul="a"), tag_constant_data))
    assert kinds(result) == ["BUFFER", "USER_INPUT"]
    specs = result.graph_signature.output_specs
    assert [spec.kind for spec in specs] == [OutputKind.BUFFER_MUTATION, OutputKind.USER_OUTPUT]
    assert kinds(lowered(result)[0].original_module) == ["USER_INPUT", "USER_INPUT"]
    result.validate()
    module = result.module()
    for step in range(3):
        torch.testing.assert_close(module(W), 2 * step * W)


def test_a_tagged_buffer_belongs_to_the_delegate() -> None:
    result = to_backend(core_aten(Counter(), [W]), Tagging(by_name(add="a", mul="a"), tag_mutated_buffer))
    assert kinds(result) == ["USER_INPUT"] and not result.graph_signature.buffers_to_mutate
    part = lowered(result)[0].original_module
    assert part.graph_signature.buffers_to_mutate == {"add": "total"}
    result.validate()
    for step in range(3):
        torch.testing.assert_close(run(result, W), [2 * step * W])


def test_a_delegate_that_only_keeps_state_is_not_dead() -> None:
    class Sink(Counter):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.total.add_(x)
            return x.neg()

    result = to_backend(core_aten(Sink(), [W]), Tagging(by_name(add="a"), tag_mutated_buffer))
    RemoveDeadCode().run(result, PassContext(None))
    result.graph.eliminate_dead_code()
    assert operators(result) == ["rushlight_call_delegate", "neg"]


def test_a_buffer_that_also_leaves_as_a_result_is_both() -> None:
    class Both(Counter):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.total.add_(x)
            return self.total.clone()

    result = to_backend(core_aten(Both(), [W]), Tagging(by_name(add="a", clone="a"), tag_mutated_buffer))
    part = lowered(result)[0].original_module
    assert part.graph_signature.output_specs[0].kind is OutputKind.BUFFER_MUTATION
    for step in (1, 2):
        torch.testing.assert_close(run(result, W), [step * W])


@pytest.mark.parametrize("names", [{"mul": "a"}, {"add": "a"}, {"add": "a", "mul": "second"}])
def test_a_buffer_is_not_cut_apart(names: dict[str, str]) -> None:
    program = core_aten(Counter(), [W])
    with pytest.raises(
        DelegationFailed, match=r"buffer 'total': expected the tag 'a' on each node"
    ) as caught:
        to_backend(program, Tagging(by_name(**names), tag_mutated_buffer))
    assert caught.value.tag == "a" and caught.value.backend == "Recorder"


def test_parts_inside_the_bodies_of_a_cond() -> None:
    def function(x):
        return torch.cond(x.sum() > 0, lambda x: x.sin().cos() + 1, lambda x: x.exp() * 3, (x,)).neg()

    result = to_backend(core_aten(function, [X]), Tagging(by_name(sin="a", cos="a", exp="second", neg="b")))
    assert sorted(payloads(result)) == ["exp", "neg", "sin cos"]
    result.validate()
    for x in (X.abs(), -X.abs()):
        assert_same(result, function, x)


def test_one_tag_in_two_bodies_makes_two_delegates() -> None:
    def function(x):
        return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.sin() * 3, (x,))

    result = to_backend(core_aten(function, [X]), Tagging(by_name(sin="a")))
    assert payloads(result) == ["sin", "sin"]


def test_parts_inside_the_body_of_a_map() -> None:
    from torch._higher_order_ops.map import map as torch_map

    def function(x, y):
        return torch_map(lambda row, y: (row + y).sin().cos(), x, y)

    result = to_backend(core_aten(function, [X, W]), Tagging(by_name(sin="a", add="a")))
    assert payloads(result) == ["add sin"]
    assert_same(result, function, X, W)


def test_a_cond_is_delegated_whole_with_its_bodies() -> None:
    def function(x):
        return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.exp(), (x,)).neg()

    result = to_backend(core_aten(function, [X]), Tagging(by_name(cond="a", neg="a", sin="b")))
    assert payloads(result) == ["cond getitem neg"]
    assert [name for name, _ in result.graph_module.named_children()] == ["lowered_module_0"]
    assert not list(delegate_calls(lowered(result)[0].original_module.graph_module))
    result.validate()
    assert_same(result, function, X)


def test_a_cycle_is_refused_by_its_nodes() -> None:
    program = core_aten(lambda x: x.sin().cos().sin(), [X])
    with pytest.raises(DelegationFailed, match=r"'a' -> cos -> 'a'") as caught:
        to_backend(program, Tagging(by_name(sin="a")))
    assert any("cos" in line and "graphs.py:" in line for line in caught.value.nodes)


def test_a_cycle_over_two_tags_is_refused() -> None:
    def function(x):
        a, b = x.sin(), x.cos()
        return a.exp() + b.neg()

    program = core_aten(function, [X])
    with pytest.raises(DelegationFailed, match=r"'(a|b)' -> '(a|b)' -> '(a|b)'"):
        to_backend(program, Tagging(by_name(sin="a", neg="a", cos="b", exp="b")))


def test_an_unknown_tag_is_refused() -> None:
    with pytest.raises(DelegationFailed, match=r"'sin': expected a tag of .*\['a'\], got 'nobody'"):
        to_backend(core_aten(lambda x: x.sin().cos(), [X]), Tagging(by_name(sin="nobody", cos="a")))


def test_a_tagged_input_is_refused() -> None:
    tagging = Tagging(lambda node: "a" if node.op == "placeholder" else None)
    with pytest.raises(DelegationFailed, match="input 'args_0': expected no tag, got 'a'"):
        to_backend(core_aten(lambda x: x.sin(), [X]), tagging)


def test_a_tagged_output_is_refused() -> None:
    tagging = Tagging(lambda node: "a" if node.op == "output" else None)
    with pytest.raises(DelegationFailed, match=r"'output': expected no tag on .*, got 'a'"):
        to_backend(core_aten(lambda x: x.sin(), [X]), tagging)


def test_a_delegate_is_not_delegated_again() -> None:
    once = to_backend(core_aten(lambda x: x.sin(), [X]), Tagging(by_name(sin="a")))
    with pytest.raises(DelegationFailed, match="a delegate already"):
        to_backend(once, Tagging(by_name(rushlight_call_delegate="b")))


def test_a_partitioner_that_changes_the_graph_is_refused() -> None:
    def spoil(program):
        program.graph.find_nodes(op="call_function", target=torch.ops.aten.sin.default)[
            0
        ].target = torch.ops.aten.cos.default

    with pytest.raises(DelegationFailed, match="Tagging: expected tags only"):
        to_backend(core_aten(lambda x: x.sin(), [X]), Tagging(by_name(sin="a"), spoil))


def test_a_partitioner_or_backend_that_fixes_a_dynamic_size_is_refused() -> None:
    batch = torch.export.Dim("batch", min=2, max=8)

    def compare(program):
        assert program.graph.output_node().args[0][0].meta["val"].shape[0] == 2

    class Comparing(BackendDetails):
        @staticmethod
        def preprocess(edge_program, compile_specs):
            compare(edge_program)
            return PreprocessResult()

    for fixing in (Tagging(by_name(sin="a"), compare), To("Comparing", by_name(sin="a"))):
        fresh = core_aten(lambda x: x.sin(), [X], ({0: batch},))
        with pytest.raises(
            DelegationFailed, match=r"(Tagging|'Comparing'): expected dynamic sizes .*, got s\d+ to 2"
        ):
            to_backend(fresh, fixing)


def test_a_partitioner_may_tag_a_copy() -> None:
    class Copying(Tagging):
        def partition(self, exported_program):
            return super().partition(copy.deepcopy(exported_program))

    result = to_backend(core_aten(lambda x: x.sin().cos(), [X]), Copying(by_name(sin="a")))
    assert payloads(result) == ["sin"]


class Failing(BackendDetails):
    @staticmethod
    def preprocess(edge_program, compile_specs):
        if compile_specs:
            return compile_specs
        raise ValueError("no memory")


def test_a_backend_that_fails_is_named_with_the_lines_it_was_to_take() -> None:
    program = core_aten(lambda x: x.sin(), [X])
    with pytest.raises(
        DelegationFailed, match="backend 'Failing' failed on 'a': ValueError: no memory"
    ) as caught:
        delegate({"forward": program}, {"forward": To("Failing", by_name(sin="a"))})
    assert isinstance(caught.value.__cause__, ValueError)
    assert caught.value.backend == "Failing" and "graphs.py:" in caught.value.nodes[0]
    assert operators(program) == ["sin"]
    assert not any("delegation_tag" in node.meta for node in program.graph.nodes)
    with pytest.raises(DelegationFailed, match="no memory"):
        to_backend("Failing", program, [])


def test_a_backend_that_returns_something_else_is_named() -> None:
    with pytest.raises(DelegationFailed, match=r"'Failing': expected a PreprocessResult.*got list"):
        to_backend("Failing", core_aten(lambda x: x.sin(), [X]), [CompileSpec("k", b"")])


def test_an_unknown_backend_is_named_with_those_there_are() -> None:
    with pytest.raises(DelegationFailed, match=r"backend 'Nowhere': expected one of .*Recorder"):
        to_backend(core_aten(lambda x: x.sin(), [X]), To("Nowhere", by_name(sin="a")))


def test_a_backend_may_spoil_its_program() -> None:
    class Spoiling(BackendDetails):
        @staticmethod
        def preprocess(edge_program, compile_specs):
            for node in edge_program.graph.find_nodes(op="call_function", target=torch.ops.aten.sin.default):
                node.target = torch.ops.aten.cos.default
            edge_program.graph_module.recompile()
            return PreprocessResult(b"", {0: (1,)})

    result = to_backend(core_aten(lambda x: x.sin(), [X]), To("Spoiling", by_name(sin="a")))
    assert lowered(result)[0].meta["debug_handle_map"] == {0: (1,)}
    assert_same(result, lambda x: x.sin(), X)


class OverMethods(BackendDetails):
    """Tells each part how many there are in all methods."""

    @staticmethod
    def preprocess(edge_program, compile_specs):
        raise AssertionError("not called")

    @classmethod
    def preprocess_multimethod(cls, edge_programs, compile_specs):
        count = str(sum(len(programs) for programs in edge_programs.values())).encode()
        return {
            method: [PreprocessResult(method.encode() + count) for _ in programs]
            for method, programs in edge_programs.items()
        }


def test_a_backend_sees_the_parts_of_all_methods() -> None:
    programs = {
        "encode": core_aten(lambda x: x.sin().neg().sin(), [X]),
        "decode": core_aten(lambda x: x.sin(), [X]),
    }
    tags = iter("abc")
    tagging = To("OverMethods", lambda node: next(tags) if "sin" in node.name else None)
    spec = MethodProgramsPartitionerSpec(programs, dict.fromkeys(programs, tagging))
    results = to_backend(spec)
    assert payloads(results["encode"]) == ["encode3", "encode3"]
    assert payloads(results["decode"]) == ["decode3"]


def test_a_whole_program_is_lowered() -> None:
    module = nn.Linear(3, 4)
    result = to_backend("Recorder", core_aten(module, [X]), [CompileSpec("k", b"v")])
    assert result.processed_bytes == b"linear" and result.compile_specs == [CompileSpec("k", b"v")]
    assert result.named_data == {}
    torch.testing.assert_close(result(X)[0], module(X))
    assert copy.deepcopy(result).processed_bytes == b"linear"


def test_parameters_come_before_buffers_and_these_before_constants() -> None:
    class Mixed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("b", B)
            self.w = nn.Parameter(W)

        def forward(self, x):
            return x + torch.tensor([1.0, 2.0, 3.0]) * self.b * self.w

    module = Mixed()
    program = core_aten(module, [X])
    apply(program, RemoveNoOps())  # the copy of the constant
    result = to_backend(program, Tagging(by_name(add="a", mul="a"), tag_constant_data))
    part = lowered(result)[0].original_module
    assert kinds(part) == ["PARAMETER", "BUFFER", "CONSTANT_TENSOR", "USER_INPUT"]
    assert part.graph_signature.input_specs[3].kind is InputKind.USER_INPUT
    part.validate()
    assert_same(result, module, X)
    torch.testing.assert_close(part.module()(X)[0], module(X))

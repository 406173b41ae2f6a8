# SPDX-License-Identifier: BSD-3-Clause
"""Random graphs: what is proposed can be cut out, and computes the same."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.export import ExportedProgram
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner

from rushlight.errors import DelegationFailed
from rushlight.export.delegate import (
    DelegationSpec,
    Partitioner,
    PartitionResult,
    generate_partitions_from_list_of_nodes,
    generate_pattern_op_partitions,
    propose_partitions,
    tag_constant_data,
    to_backend,
)
from support.delegating import Named, Recorder, Tagging, by_name, lowered, name_of, payloads
from support.graphs import core_aten, operators, run

X = torch.linspace(-1, 1, 4)

UNARY = {"sin": torch.ops.aten.sin.default, "neg": torch.ops.aten.neg.default}
BINARY = {"add": torch.ops.aten.add.Tensor, "mul": torch.ops.aten.mul.Tensor}
# An operator and two earlier values, as fractions of the list so far.
STEPS = st.lists(
    st.tuples(
        st.sampled_from([*UNARY, *BINARY, "split"]),
        st.floats(0, 1, exclude_max=True),
        st.floats(0, 1, exclude_max=True),
    ),
    min_size=2,
    max_size=14,
)


def program_of(steps: list[tuple[str, float, float]]) -> ExportedProgram:
    """A program of these operators over one vector of 4; the last three values are its results."""

    def function(x):
        values = [x]
        for name, first, second in steps:
            a, b = (values[int(part * len(values))] for part in (first, second))
            if name == "split":
                low, high = torch.ops.aten.split_copy.Tensor(a, 2)
                values += [torch.cat([high, b[:2]]), torch.cat([low, low])]
            else:
                values.append(UNARY[name](a) if name in UNARY else BINARY[name](a, b))
        return values[-3:]

    return core_aten(function, [X])


class Proposing(Partitioner):
    """Delegates what `propose` proposes."""

    def __init__(self, propose) -> None:
        super().__init__()
        self.propose = propose

    def partition(self, exported_program):
        tags = {}
        for partition in self.propose(exported_program.graph_module):
            tags[f"part{partition.id}"] = DelegationSpec(Recorder.__name__, [])
            for node in partition.nodes:
                node.meta["delegation_tag"] = f"part{partition.id}"
        tag_constant_data(exported_program)
        return PartitionResult(exported_program, tags)


@settings(max_examples=25, deadline=None)
@given(STEPS, st.sets(st.sampled_from(["sin", "neg", "add", "mul", "cat", "split_copy"])), st.booleans())
def test_proposals_are_cut_out_whole_and_compute_the_same(steps, names, connected) -> None:
    program = program_of(steps)
    expected = run(program, X)
    support = Named(*names)
    proposing = Proposing(lambda m: propose_partitions(m, support, skip_horizontal_fusion=connected))
    result = to_backend(program, proposing)
    result.validate()
    torch.testing.assert_close(run(result, X), expected, rtol=0, atol=0)
    assert names.isdisjoint(operators(result))


@settings(max_examples=25, deadline=None)
@given(STEPS, st.lists(st.sampled_from([None, "a", "b", "second"]), min_size=60, max_size=60))
def test_any_tags_compute_the_same_or_are_a_cycle(steps, tags) -> None:
    program = program_of(steps)
    expected = run(program, X)
    numbers = {node.name: index for index, node in enumerate(program.graph.nodes)}
    tagging = Tagging(lambda n: tags[numbers[n.name] % 60] if n.op == "call_function" else None)
    cyclic = has_cycle(program, tagging)
    try:
        result = to_backend(program, tagging)
    except DelegationFailed as error:
        assert cyclic and "->" in str(error)
    else:
        assert not cyclic
        result.validate()
        torch.testing.assert_close(run(result, X), expected, rtol=0, atol=0)


def has_cycle(program: ExportedProgram, tagging: Tagging) -> bool:
    """True if contracting the nodes of each tag makes a cycle; checks every path."""
    unit = {}
    for node in program.graph.nodes:
        item = name_of(node) == "getitem"
        unit[node] = unit[node.args[0]] if item else tagging.tag(node) or node.name
    reached = {
        name: {unit[u] for n in unit if unit[n] == name for u in n.users} - {name} for name in unit.values()
    }
    for _ in reached:
        for name, behind in reached.items():
            reached[name] = behind.union(*(reached[further] for further in behind))
    return any(name in behind for name, behind in reached.items())


def groups(function, *names: str, **options: bool) -> list[list[str]]:
    program = core_aten(function, [X])
    partitions = propose_partitions(program.graph_module, Named(*names), **options)
    return [[name_of(node) for node in partition.nodes] for partition in partitions]


def test_a_path_through_an_unsupported_node_separates() -> None:
    assert groups(lambda x: (x.sin().exp() + x.cos()).neg(), "sin", "cos", "add", "neg") == [
        ["sin", "cos"],
        ["add", "neg"],
    ]


def test_unsupported_nodes_before_all_supported_ones_do_not_separate() -> None:
    assert groups(lambda x: x.exp() + x.sin(), "sin", "add") == [["sin", "add"]]


def test_connected_partitions_hold_what_feeds_them() -> None:
    def function(x):
        return x.sin().exp() + x.cos(), x.sigmoid()

    names = ("sin", "cos", "add", "sigmoid")
    assert groups(function, *names, skip_horizontal_fusion=True) == [["sin"], ["cos", "add"], ["sigmoid"]]
    assert groups(function, *names) == [["sin", "cos", "sigmoid"], ["add"]]


def test_what_also_feeds_an_unsupported_node_is_not_drawn_behind_it() -> None:
    def function(x):
        a = x.sin()
        return (x.cos().exp() + a) * a.sigmoid().neg()

    names = ("sin", "cos", "add", "mul", "neg")
    found = groups(function, *names, skip_horizontal_fusion=True)
    assert sorted(map(sorted, found)) == [["add", "mul", "neg"], ["cos"], ["sin"]]


def test_results_of_an_operator_go_with_it() -> None:
    assert groups(lambda x: torch.topk(x, 2).values, "topk") == [["topk", "getitem"]]


def test_partitions_of_one_operator_can_be_left_out() -> None:
    def function(x):
        return torch.topk(x, 2).values.exp().sin().neg()

    names = ("topk", "sin", "neg")
    assert groups(function, *names, allows_single_node_partition=False) == [["sin", "neg"]]


def test_proposals_are_never_more_than_pytorchs() -> None:
    def function(x):
        a = x.sin().exp().neg()
        return a.exp() + x.neg() * a, x.sin() + a

    support = Named("sin", "neg", "add", "mul")
    module = core_aten(function, [X]).graph_module
    theirs = CapabilityBasedPartitioner(
        module, support, allows_single_node_partition=True
    ).propose_partitions()
    assert len(propose_partitions(module, support)) <= len(theirs)


def test_pytorchs_partitioner_can_be_used_as_well() -> None:
    program = core_aten(lambda x: x.sin().exp().neg() + x.sin(), [X])

    def propose(module):
        support = Named("sin", "neg", "add")
        return CapabilityBasedPartitioner(
            module, support, allows_single_node_partition=True
        ).propose_partitions()

    result = to_backend(program, Proposing(propose))
    torch.testing.assert_close(run(result, X), run(program, X))
    assert operators(result).count("rushlight_call_delegate") == 2


def test_delegates_are_not_proposed_again() -> None:
    program = to_backend(core_aten(lambda x: x.sin().cos(), [X]), Tagging(by_name(sin="a")))
    [partition] = propose_partitions(program.graph_module, Named("sin", "cos", "rushlight_call_delegate"))
    assert [name_of(node) for node in partition.nodes] == ["cos"]


def test_partitions_of_listed_nodes() -> None:
    module = core_aten(lambda x: x.sin().cos().exp(), [X]).graph_module
    listed = [node for node in module.graph.nodes if name_of(node) == "sin"]
    [partition] = generate_partitions_from_list_of_nodes(module, [listed], Named("cos"))
    assert [name_of(node) for node in partition.nodes] == ["sin", "cos"]


def test_partitions_of_patterns() -> None:
    program = core_aten(lambda x: (x.sin() * x.sin()).exp() + x.sin(), [X])
    pattern = core_aten(lambda x: x.sin() * x.sin(), [X]).graph
    partitions = generate_pattern_op_partitions(program.graph_module, [pattern])
    assert [sorted(name_of(node) for node in found.nodes) for found in partitions] == [["mul", "sin", "sin"]]


@pytest.mark.parametrize("connected", [False, True])
def test_a_long_chain_takes_no_long_time(connected: bool) -> None:
    from torch.fx import Graph, GraphModule

    graph = Graph()
    node = graph.placeholder("x")
    for index in range(20_000):
        target = torch.ops.aten.sin.default if index % 3 else torch.ops.aten.exp.default
        node = graph.call_function(target, (node,))
    graph.output((node,))
    found = propose_partitions(GraphModule({}, graph), Named("sin"), skip_horizontal_fusion=connected)
    assert len(found) == 6667


def test_payloads_name_what_was_delegated() -> None:
    program = core_aten(lambda x: x.sin().neg().cos(), [X])
    result = to_backend(program, Proposing(lambda module: propose_partitions(module, Named("sin", "neg"))))
    assert payloads(result) == ["sin neg"] and lowered(result)[0].backend_id == "Recorder"

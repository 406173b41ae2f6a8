# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import ExportedProgram
from torch.nn import functional

import rushlight
from rushlight.export.order import operators as dim_order
from rushlight.export.order.assign import DimOrders
from rushlight.export.passes import PassContext
from rushlight.export.passes.remove_dead_code import RemoveDeadCode
from rushlight.export.passes.remove_no_ops import RemoveNoOps
from rushlight.program import read_program
from support.graphs import LIBRARY, Fn, apply, assert_same, core_aten, operators, run

ROW, LAST = (0, 1, 2, 3), (0, 2, 3, 1)
IMAGE = torch.randn(2, 3, 8, 8)
LAST_IMAGE = IMAGE.to(memory_format=torch.channels_last)


def ordered(module: Any, *args: Any, dynamic_shapes: Any = None) -> ExportedProgram:
    program = core_aten(module, args, dynamic_shapes)
    apply(program, RemoveNoOps(), DimOrders(), RemoveDeadCode())
    return program


def orders(program: ExportedProgram) -> dict[str, Any]:
    """By operator name; all calls of tensors have one."""
    found = {}
    for node in program.graph.nodes:
        if node.op == "call_function" and isinstance(node.meta["val"], (torch.Tensor, tuple, list)):
            found[node.name] = node.meta["dim_order"]
    return found


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(3, 4, 3)
        self.linear = nn.Linear(16, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = nn.functional.max_pool2d(self.convolution(x).relu(), 3)
        return self.linear(x.flatten(1))


def test_without_channels_last_everything_is_row_major() -> None:
    program = ordered(Net(), IMAGE)
    assert operators(program) == [
        "convolution",
        "relu",
        "max_pool2d_with_indices",
        "getitem",
        "view_copy",
        "linear",
    ]
    assert orders(program)["relu"] == ROW
    assert orders(program)["max_pool2d_with_indices"] == (ROW, ROW)
    assert orders(program)["view"] == (0, 1)


def test_a_channels_last_input_stays_so_until_an_operator_wants_row_major() -> None:
    module = Net()
    program = ordered(module, LAST_IMAGE)
    assert operators(program)[-3:] == ["_clone_dim_order", "view_copy", "linear"]
    found = orders(program)
    assert [found[n] for n in ("convolution", "relu", "getitem", "_clone_dim_order")] == [
        LAST,
        LAST,
        LAST,
        ROW,
    ]
    assert found["max_pool2d_with_indices"] == (LAST, LAST)
    assert_same(program, module, LAST_IMAGE)


def test_memory_formats_become_operators_of_the_dialect() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        x = x.to(memory_format=torch.channels_last).sin()
        return x.contiguous().cos(), x.to(torch.float64, memory_format=torch.channels_last)

    program = ordered(function, IMAGE)
    assert operators(program) == ["_clone_dim_order", "sin", "_clone_dim_order", "cos", "_to_dim_order_copy"]
    assert list(orders(program).values()) == [LAST, LAST, ROW, ROW, LAST]
    assert_same(program, function, IMAGE)
    assert run(program, IMAGE)[1].is_contiguous(memory_format=torch.channels_last)


def test_a_copy_that_changes_no_order_is_removed() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.to(memory_format=torch.channels_last).sin().contiguous(memory_format=torch.channels_last)

    program = ordered(function, LAST_IMAGE)
    assert operators(program) == ["sin"]
    assert program.graph_signature.output_specs[0].arg.name == "sin"


def test_a_cast_of_a_row_major_tensor_stays_with_aten() -> None:
    program = ordered(lambda x: x.to(torch.int32, memory_format=torch.contiguous_format), IMAGE)
    assert [str(n.target) for n in program.graph.nodes if n.op == "call_function"] == [
        "aten._to_copy.default"
    ]
    assert "memory_format" not in list(program.graph.nodes)[1].kwargs


def test_new_tensors_of_a_memory_format_come_from_the_dialect() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        made = torch.empty(2, 3, 8, 8, memory_format=torch.channels_last)
        return torch.where(x == x, x, made)

    program = ordered(function, LAST_IMAGE)
    assert "_empty_dim_order" in operators(program)
    assert orders(program)["where"] == LAST
    assert_same(program, function, LAST_IMAGE)


def test_tensors_filled_as_others_are_row_major() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(x, memory_format=torch.channels_last)

    program = ordered(function, IMAGE)
    (node,) = (n for n in program.graph.nodes if n.op == "call_function")
    assert (node.meta["dim_order"], node.kwargs.get("memory_format")) == (ROW, None)


def test_mixed_orders_are_unified_after_the_first_operand() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> Any:
        return x + y, y * x

    program = ordered(function, IMAGE, LAST_IMAGE)
    assert operators(program) == ["_clone_dim_order", "add", "_clone_dim_order", "mul"]
    assert list(orders(program).values()) == [ROW, ROW, LAST, LAST]
    assert_same(program, function, IMAGE, LAST_IMAGE)


def test_two_readers_share_a_copy() -> None:
    program = ordered(lambda x: (x.cumsum(2), x.cumsum(1)), LAST_IMAGE)
    assert operators(program) == ["_clone_dim_order", "cumsum", "cumsum"]


def test_what_moves_elements_follows_the_order_of_most_bytes() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> Any:
        return torch.cat([x, y], 1), torch.cat([x, y, y.sin()], 1), x.flip(1), y.roll(1, 2)

    program = ordered(function, IMAGE, LAST_IMAGE)
    assert operators(program) == ["cat", "sin", "cat", "flip", "roll"]
    assert list(orders(program).values()) == [ROW, LAST, LAST, ROW, LAST]
    assert_same(program, function, IMAGE, LAST_IMAGE)


@pytest.mark.parametrize("any_order", [False, True])
def test_broadcasting_goes_row_major_where_the_runtime_wants_that(any_order: bool) -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x * y

    args = (LAST_IMAGE, torch.randn(3, 1, 1))
    program = core_aten(function, args)
    DimOrders().run(program, PassContext(LIBRARY.only(LIBRARY.operators, "some", any_order)))
    assert operators(program) == ["mul"] if any_order else ["_clone_dim_order", "mul"]
    assert_same(program, function, *args)
    (product,) = (n for n in program.graph.nodes if n.name == "mul")
    assert product.meta["dim_order"] == (LAST if any_order else ROW)


def test_a_reduction_to_channels_reads_what_there_is() -> None:
    program = ordered(lambda x: (x.sin().mean((2, 3), True), x.sum(1), x.amax((2, 3))), LAST_IMAGE)
    assert operators(program) == ["sin", "mean", "sum", "amax"]
    assert list(orders(program).values()) == [LAST, ROW, (0, 1, 2), (0, 1)]


def test_one_pixel_is_never_copied() -> None:
    program = ordered(lambda x: (x * x.mean((2, 3), True).sigmoid()).flatten(1), LAST_IMAGE)
    found = orders(program)
    assert [found[name] for name in ("mean", "sigmoid", "mul")] == [ROW, ROW, LAST]
    assert operators(program).count("_clone_dim_order") == 1  # in front of flatten


class Attention(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (part.unflatten(-1, (2, 4)).transpose(1, 2) for part in x.chunk(3, -1))
        return functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)


def test_what_is_permuted_for_attention_stays_where_it_is() -> None:
    x = torch.randn(2, 5, 24)
    program = ordered(Attention(), x)
    found = orders(program)
    assert [found[name] for name in ("permute", "permute_1", "permute_2")] == [(0, 2, 1, 3)] * 3
    assert [found[name] for name in ("scaled_dot_product_attention", "permute_3")] == [(0, 2, 1, 3), ROW]
    assert_same(program, Attention(), x)
    (method,) = read_program(rushlight.export(Attention(), (x,)).buffer).plans
    called = [name for name, _ in method.calls()]
    assert called[-1] == "aten::scaled_dot_product_attention.out" and "aten::permute_copy.out" not in called


def test_what_others_read_too_is_permuted() -> None:
    class Both(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            q = x.transpose(1, 2)
            y = functional.scaled_dot_product_attention(q, q, q)
            return y, q.flip(1)

    program = ordered(Both(), torch.randn(1, 5, 2, 4))
    assert set(orders(program).values()) == {ROW}


def test_one_channel_is_both_and_counts_as_row_major() -> None:
    x = torch.randn(2, 1, 4, 4).to(memory_format=torch.channels_last)
    program = ordered(lambda x: x.sin(), x)
    assert list(orders(program).values()) == [ROW]


def test_an_operand_of_one_pixel_follows_the_others() -> None:
    program = ordered(lambda x, y: y * x.sin(), torch.randn(1, 3, 1, 1), torch.randn(1, 3, 1, 1))
    assert list(orders(program).values()) == [ROW, ROW]


def test_a_constant_follows_its_first_reader() -> None:
    module = Fn(lambda x, table: x + table, table=torch.randn(2, 3, 8, 8))
    program = ordered(module, LAST_IMAGE)
    assert operators(program) == ["add"]
    assert [n.meta["dim_order"] for n in program.graph.nodes if n.op == "placeholder"] == [LAST, LAST]


def test_weights_lie_as_their_tensors_do() -> None:
    module = nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
    program = ordered(module, IMAGE)
    assert operators(program) == ["convolution"]
    found = {n.name: n.meta["dim_order"] for n in program.graph.nodes if n.op != "output"}
    assert found == {"p_weight": LAST, "p_bias": (0,), "input": ROW, "convolution": ROW}


def test_a_weight_that_something_else_reads_is_row_major() -> None:
    module = nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
    program = ordered(
        Fn(lambda x, w: nn.functional.conv2d(x, w) + w.sum(0)[0, 0, 0], w=module.weight.data), IMAGE
    )
    assert next(n for n in program.graph.nodes if n.op == "placeholder").meta["dim_order"] == ROW


class Memory(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("last", torch.zeros(2, 3, 8, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        self.last.copy_(y)
        return y


def test_what_is_written_back_lies_as_its_buffer() -> None:
    program = ordered(Memory(), LAST_IMAGE)
    assert operators(program) == ["add", "_clone_dim_order"]
    assert [spec.arg.name for spec in program.graph_signature.output_specs] == ["_clone_dim_order", "add"]


def test_branches_get_and_give_row_major_tensors() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(
            x.sum() > 0,
            lambda y: y.to(memory_format=torch.channels_last).sin().contiguous(),
            lambda y: y.cos(),
            (x,),
        )

    program = ordered(function, IMAGE)
    inner = program.graph_module.true_graph_0.graph
    assert [n.target.__name__ for n in inner.nodes if n.op == "call_function"] == [
        "_clone_dim_order.default",
        "sin.default",
        "_clone_dim_order.default",
    ]
    assert orders(program)["cond"] == (ROW,)
    assert_same(program, function, IMAGE)
    assert_same(program, function, -IMAGE)


def test_running_it_again_changes_nothing() -> None:
    program = ordered(Net(), LAST_IMAGE)
    before = operators(program)
    assert not apply(program, DimOrders())
    assert operators(program) == before


def test_dynamic_sizes_keep_channels_last() -> None:
    batch = torch.export.Dim("batch", min=2, max=8)
    program = ordered(lambda x: x.sin(), LAST_IMAGE, dynamic_shapes=({0: batch},))
    assert orders(program) == {"sin": LAST}


@pytest.mark.parametrize("row", ["_clone_dim_order", "_to_dim_order_copy", "_empty_dim_order"])
def test_the_dialect_maps_to_rows_of_the_runtime(row: str) -> None:
    function = getattr(torch.ops.rushlight_dim_order, row).default
    assert LIBRARY.find(function) == f"dim_order_ops::{row}.out"


def test_copies_of_the_dialect_lie_as_asked() -> None:
    made = dim_order.to_dim_order_copy(IMAGE, dtype=torch.float64, dim_order=list(LAST))
    assert made.stride() == LAST_IMAGE.stride()
    torch.testing.assert_close(made, IMAGE.double())
    assert dim_order.empty_dim_order([2, 3, 8, 8], dim_order=list(LAST)).stride() == LAST_IMAGE.stride()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_official_exporter_may_be_in_the_same_process(order: tuple[int, int]) -> None:
    pytest.importorskip("executorch.exir")
    lines = ["import executorch.exir", "import rushlight.export.order.operators"]
    subprocess.run([sys.executable, "-c", "\n".join(lines[i] for i in order)], check=True, timeout=120)

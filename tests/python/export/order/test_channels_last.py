# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.export import ExportedProgram

import rushlight
from rushlight.errors import InvalidArgument
from rushlight.export.order.assign import DimOrders
from rushlight.export.order.channels_last import ChannelsLast
from rushlight.export.passes.fuse_activation import FuseActivation
from rushlight.export.passes.remove_dead_code import RemoveDeadCode
from rushlight.integers.order import IMAGE_CHANNELS
from rushlight.program import TensorInfo, read_program
from rushlight.sources import source_root
from support.graphs import apply, assert_same, core_aten, operators, run

LAST = (0, 2, 3, 1)
IMAGE = torch.randn(2, 6, 8, 8)


def moved(module: nn.Module, *args: Any) -> ExportedProgram:
    program = core_aten(module, args)
    apply(program, DimOrders(), ChannelsLast(), DimOrders(), RemoveDeadCode())
    assert_same(program, module, *args, atol=1e-5, rtol=1e-4)
    return program


def body() -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(6, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 4, 1), nn.Sigmoid(), nn.Conv2d(4, 4, 1)
    )


def test_a_chain_is_converted_at_its_ends_only() -> None:
    program = moved(nn.Sequential(body(), nn.Flatten(), nn.Linear(36, 2)), IMAGE)
    found = operators(program)
    assert found.count("_clone_dim_order") == 2
    assert found[0] == "_clone_dim_order"
    assert found[-3:] == ["_clone_dim_order", "view_copy", "linear"]
    orders = {n.name: n.meta["dim_order"] for n in program.graph.nodes if n.op == "call_function"}
    assert [orders[n] for n in ("convolution", "relu", "getitem", "sigmoid", "convolution_2")] == [LAST] * 5
    assert orders["max_pool2d_with_indices"] == (LAST, LAST)


def test_outputs_keep_their_order() -> None:
    program = moved(body(), IMAGE)
    assert operators(program)[-1] == "_clone_dim_order"
    assert program.graph_signature.output_specs[0].arg.name == "_clone_dim_order"
    (result,) = run(program, IMAGE)
    assert result.is_contiguous()


def test_channels_last_inputs_and_outputs_need_no_conversion() -> None:
    program = moved(body(), IMAGE.to(memory_format=torch.channels_last))
    assert "_clone_dim_order" not in operators(program)


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(6, 6, 3, padding=1), nn.Conv2d(6, 6, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.second(self.first(x).relu())


def test_branches_that_meet_share_the_conversions() -> None:
    program = moved(nn.Sequential(Residual(), Residual()), IMAGE)
    assert operators(program).count("_clone_dim_order") == 2


class Between(nn.Module):
    """A softmax in between wants row-major tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleList(nn.Conv2d(6, 6, 1) for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for part in self.parts:
            x = part(x).softmax(2)
        return x


def test_a_single_convolution_is_not_worth_it() -> None:
    program = moved(Between(), IMAGE)
    assert "_clone_dim_order" not in operators(program)


def test_conversions_there_and_back_cancel() -> None:
    class There(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.to(memory_format=torch.channels_last).contiguous().sin()

    program = core_aten(There(), (IMAGE,))
    apply(program, DimOrders(), RemoveDeadCode())
    assert operators(program) == ["sin"]
    assert_same(program, There(), IMAGE)


def test_constants_need_no_conversion() -> None:
    class Offset(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body, self.offset = body(), nn.Parameter(torch.randn(2, 4, 3, 3))
            self.last = nn.Conv2d(4, 4, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.last(self.offset + self.body(x)).flatten(1)

    program = moved(Offset(), IMAGE)
    assert operators(program).count("_clone_dim_order") == 2
    (offset,) = (n for n in program.graph.nodes if n.name == "p_offset")
    assert offset.meta["dim_order"] == LAST


class Squeezed(nn.Module):
    """Convolutions of one channel, scales for channels, a residual, an average of each channel."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 4, 3), nn.Conv2d(4, 4, 3, padding=1)
        self.scale, self.last = nn.Conv2d(4, 4, 1), nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.first(x))
        y = y + self.second(y * torch.sigmoid(self.scale(y.mean((2, 3), True))))
        return self.last(nn.functional.adaptive_avg_pool2d(y, 1).flatten(1))


def test_images_of_few_channels_are_brought_together_by_their_convolution() -> None:
    layers = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 8, 3, padding=1), nn.Flatten())
    program = moved(layers, torch.randn(2, 3, 8, 8))
    assert operators(program) == ["convolution", "relu", "convolution", "_clone_dim_order", "view_copy"]
    orders = {n.name: n.meta["dim_order"] for n in program.graph.nodes if n.op == "call_function"}
    assert orders["convolution"] == LAST


def test_the_channels_that_a_convolution_brings_together_are_those_of_its_kernel() -> None:
    folder = source_root() / "kernels"
    assert f"kImageChannels = {IMAGE_CHANNELS};" in (folder / "geometry" / "image_channels.h").read_text()
    for name in ("host/convolution/method.h", "board/by_pixels.h"):
        assert "in_channels <= kImageChannels" in (folder / name).read_text()


def test_a_single_convolution_of_an_image_keeps_its_result_row_major() -> None:
    program = moved(nn.Conv2d(3, 8, 3, stride=2, padding=1), torch.randn(1, 3, 32, 32))
    assert operators(program) == ["convolution"]


@pytest.mark.parametrize("beyond", [0, 1])
def test_an_image_of_more_channels_is_converted(beyond: int) -> None:
    channels = IMAGE_CHANNELS + beyond
    layers = nn.Sequential(nn.Conv2d(channels, 4, 3), nn.ReLU(), nn.Conv2d(4, 8, 3, padding=1), nn.Flatten())
    program = moved(layers, torch.randn(2, channels, 8, 8))
    assert operators(program).count("_clone_dim_order") == 1 + beyond


def test_an_image_is_converted_when_it_is_quantized() -> None:
    example = (torch.randn(1, 6, 12, 12),)
    graph = rushlight.quantize(body().eval(), example, [example])
    method = read_program(rushlight.export(graph, example).buffer).method("forward")
    called = [method.operators[call.operator] for call in method.instructions if hasattr(call, "operator")]
    first = called.index("quantized_decomposed::quantize_per_tensor.out")
    assert called[first + 1] == "dim_order_ops::_clone_dim_order.out"
    assert called.count("dim_order_ops::_clone_dim_order.out") == 2  # and one for the output


def test_images_of_one_channel_and_results_of_one_pixel_need_no_conversion() -> None:
    x = torch.randn(2, 1, 8, 8)
    model = Squeezed().eval()
    program = core_aten(model, (x,))
    apply(program, FuseActivation(), ChannelsLast(), DimOrders(), RemoveDeadCode())
    assert "_clone_dim_order" not in operators(program)
    orders = {n.name: n.meta["dim_order"] for n in program.graph.nodes if n.op == "call_function"}
    assert [orders[n] for n in ("convolution_act", "mul", "convolution_act_2")] == [LAST] * 3
    assert orders["convolution_act_1"] == orders["adaptive_avg_pool2d"] == (0, 1, 2, 3)
    assert_same(program, model, x, atol=1e-5, rtol=1e-4)


CHOICES = {
    "by itself": ({}, True),
    "asked for": ({"channels_last": True, "runtime": "executorch"}, True),
    "for another host": ({"target": "linux-aarch64"}, True),
    "for an Arm board": ({"target": "cortex-m55"}, True),
    "for a RISC-V board": ({"target": "rv32imafc"}, False),
    "refused": ({"channels_last": False}, False),
    "for the official runtime": ({"runtime": "executorch"}, False),
}


@pytest.mark.parametrize("name", CHOICES)
def test_it_happens_where_it_is_wanted(name: str) -> None:
    options, expected = CHOICES[name]
    exported = rushlight.export(body().eval(), (IMAGE,), **options)
    (method,) = read_program(exported.buffer).plans
    assert ("dim_order_ops::_clone_dim_order.out" in method.operators) == expected
    tensors = [method.values[index].data for index in (*method.inputs, *method.outputs)]
    assert {tensor.dim_order for tensor in tensors if isinstance(tensor, TensorInfo)} == {(0, 1, 2, 3)}


def test_another_word_for_it_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="channels_last: expected True, False or 'auto', got 'yes'"):
        rushlight.export(body(), (IMAGE,), channels_last="yes")

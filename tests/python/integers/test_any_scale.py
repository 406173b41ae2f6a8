# SPDX-License-Identifier: BSD-3-Clause
"""Graphs with scales and zero points that no calibration gives: a part stays in float, or becomes an operator
whose kernel takes its arguments. No scale makes a sum of more than 32 bits."""

from __future__ import annotations

import contextlib
import copy
import functools
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.ao.quantization.fx._decomposed
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.export import ExportedProgram
from torch.fx import Interpreter
from torch.nn import functional as F

from rushlight.export.graph.constants import is_lifted, stored_tensor
from rushlight.export.passes import PassContext
from rushlight.export.passes.compute_in_integers import ComputeInIntegers
from rushlight.export.passes.remove_dead_code import RemoveDeadCode
from support.graphs import LIBRARY, Fn, core_aten
from support.harness import Kernels

Q = torch.ops.quantized_decomposed
LEAST, MOST = -128, 127
SCALES = [
    0.0, -0.0, -0.1, math.nan, math.inf, 5e-324, 1e-45, 1e-39, 1.2e-38, 1e-30, 1e-12, 1e-6, 2.0**-20, 0.003,
    0.1, 0.5, 1.0, 3.7, 1e3, 1e8, 2.0**31, 1e20, 3.4e38, 1e39, 1e300,
]  # fmt: skip
ZERO_POINTS = [-128, 127, 0, 5, -129, 128, 1 << 20, -(1 << 31), (1 << 31) - 1]
WEIGHT = (torch.arange(6 * 4 * 9) % 255 - 127).reshape(6, 4, 3, 3).to(torch.int8)
ROWS = WEIGHT.reshape(6, 36)[:, :8].contiguous()
IMAGE, ROW = (1, 4, 6, 6), (3, 8)


def weight(numbers: torch.Tensor) -> torch.Tensor:
    return Q.dequantize_per_tensor(numbers, 0.1, 0, LEAST, MOST, torch.int8)


# The function of dequantized inputs, their shapes, and its constants.
FUNCTIONS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]], dict[str, torch.Tensor]]] = {
    "convolution": (lambda x, w: F.conv2d(x, weight(w)), [IMAGE], {"w": WEIGHT}),
    "convolution with hardsigmoid": (
        lambda x, w: F.hardsigmoid(F.conv2d(x, weight(w))), [IMAGE], {"w": WEIGHT},
    ),
    "linear": (
        lambda x, w, b: F.linear(x, weight(w), b).relu(), [ROW], {"w": ROWS, "b": torch.linspace(-3, 4, 6)},
    ),
    "sum": (lambda a, b: a + b, [ROW, ROW], {}),
    "difference": (lambda a, b: torch.sub(a, b, alpha=0.5), [ROW, ROW], {}),
    "product": (lambda a, b: a * b, [ROW, ROW], {}),
    "quotient": (lambda a, b: a / b, [ROW, ROW], {}),
    "matrices": (lambda a, b: torch.bmm(a, b), [(2, 3, 8), (2, 8, 5)], {}),
    "mean": (lambda x: x.mean((2, 3)), [IMAGE], {}),
    "average pool": (lambda x: F.avg_pool2d(x, 3, 2, 1), [IMAGE], {}),
    "adaptive pool": (lambda x: F.adaptive_avg_pool2d(x, (4, 5)), [IMAGE], {}),
    "pool of a volume": (lambda x: F.avg_pool3d(x, 2), [(1, 2, 4, 4, 4)], {}),
    "bilinear": (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), [IMAGE], {}),
    "softmax": (lambda x: x.softmax(-1), [ROW], {}),
    "layer norm": (lambda x: F.layer_norm(x, (8,)), [ROW], {}),
    "group norm": (lambda x: F.group_norm(x, 2), [IMAGE], {}),
    "rms norm": (lambda x: F.rms_norm(x, (8,), eps=1e-6), [ROW], {}),
    "table": (lambda x: torch.sigmoid(x) * x, [ROW], {}),
    "clamp": (lambda x: x.clamp(-0.5, 3.0), [ROW], {}),
    "maximum": (lambda a, b: torch.maximum(a, b), [ROW, ROW], {}),
}  # fmt: skip


class FloatsFailed(Exception):
    """PyTorch refuses the operands of an operator that stayed in float."""


class _Calls(Interpreter):
    """Runs a graph, and each operator on integers by its kernel, too, to the same bits."""

    def __init__(self, module: torch.fx.GraphModule, kernels: Kernels) -> None:
        super().__init__(module)
        self.kernels = kernels

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        name = getattr(target, "_schema", None)
        if name is not None and target._schema.name.startswith("rushlight::quantized_"):
            self.kernels.check(f"{target._schema.name}.out", *args, rtol=0, atol=0)
            return super().call_function(target, args, kwargs)
        try:
            return super().call_function(target, args, kwargs)
        except (ArithmeticError, RuntimeError) as error:
            raise FloatsFailed from error


@functools.cache
def exported(name: str) -> ExportedProgram:
    """The graph with ordinary numbers."""
    function, _, constants = FUNCTIONS[name]

    def whole(*inputs: torch.Tensor, **known: torch.Tensor) -> torch.Tensor:
        real = [Q.dequantize_per_tensor(x, 0.1, 0, LEAST, MOST, torch.int8) for x in inputs]
        return Q.quantize_per_tensor(function(*real, **known), 0.1, 0, LEAST, MOST, torch.int8)

    return core_aten(Fn(whole, **constants), inputs_of(name))


def inputs_of(name: str) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    shapes = FUNCTIONS[name][1]
    return [torch.randint(LEAST, MOST + 1, shape, generator=generator).to(torch.int8) for shape in shapes]


def converted(
    name: str, scales: list[float], points: list[int], limits: tuple[int, int]
) -> tuple[torch.fx.GraphModule | None, list[torch.Tensor], list[str]]:
    """The graph if anything became integers, its inputs with constants, and the remarks."""
    program = copy.deepcopy(exported(name))
    numbers = iter(zip(scales, points, strict=True))
    for node in program.graph.nodes:
        if "dequantize_per_tensor" in str(node.target):
            is_weight = node.args[0].name.startswith("b_")
            scale, point = next(numbers)
            node.args = (node.args[0], scale, 0 if is_weight else point, *node.args[3:])
        elif "quantize_per_tensor" in str(node.target):
            node.args = (node.args[0], scales[-1], points[-1], *limits, *node.args[5:])
    context = PassContext(LIBRARY)
    inputs = inputs_of(name)
    if not ComputeInIntegers().run(program, context):
        return None, inputs, context.remarks
    RemoveDeadCode().run(program, context)
    program.graph_module.recompile()
    given = iter(inputs)
    values = [
        stored_tensor(program, spec) if is_lifted(spec) else next(given)
        for spec in program.graph_signature.input_specs
    ]
    return program.graph_module, values, context.remarks


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=25, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("name", FUNCTIONS)
def test_any_scale_is_refused_or_computed(name: str, kernels: Kernels, data: st.DataObject) -> None:
    # Most are ordinary, so that one that is not meets others that are.
    ordinary = st.sampled_from([0.003, 0.02, 0.1, 0.5])
    scales = [data.draw(st.one_of(ordinary, st.sampled_from(SCALES))) for _ in range(4)]
    points = [data.draw(st.one_of(st.integers(-128, 127), st.sampled_from(ZERO_POINTS))) for _ in range(4)]
    limits = data.draw(st.sampled_from([(-128, 127), (-127, 127), (-5, 90), (127, 127)]))
    graph, values, _ = converted(name, scales, points, limits)
    if graph is not None:
        with contextlib.suppress(FloatsFailed):
            _Calls(graph, kernels).run(*values)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_ordinary_scales_are_computed(name: str, kernels: Kernels) -> None:
    """So that the test above has something to run."""
    graph, values, remarks = converted(name, [0.02, 0.05, 0.003, 0.04], [3, -7, 0, 5], (-128, 127))
    assert graph is not None and remarks == []
    _Calls(graph, kernels).run(*values)


@pytest.mark.parametrize(
    "build", [lambda x, w: F.linear(x, weight(w)), lambda x, _: torch.bmm(x[None], x[None].transpose(1, 2))],
    ids=["linear", "matrices"],
)  # fmt: skip
def test_sums_that_are_too_long_stay_in_float(build: Callable[..., Any]) -> None:
    def whole(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        real = Q.dequantize_per_tensor(x, 0.1, 3, LEAST, MOST, torch.int8)
        return Q.quantize_per_tensor(build(real, w), 0.5, 0, LEAST, MOST, torch.int8)

    longest = torch.full((2, 70_000), 127, dtype=torch.int8)
    program = core_aten(Fn(whole, w=longest), (longest.clone(),))
    context = PassContext(LIBRARY)
    ComputeInIntegers().run(program, context)
    assert any("its sums may have more than 32 bits" in remark for remark in context.remarks)

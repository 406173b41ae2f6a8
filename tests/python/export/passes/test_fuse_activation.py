# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

import rushlight
from rushlight.export.passes import PassContext
from rushlight.export.passes.fuse_activation import FuseActivation
from rushlight.program import read_program
from support.graphs import LIBRARY, apply, assert_same, core_aten, operators

X = torch.randn(2, 3, 8, 8)

# The last arguments; bounds alone belong to the overload `clamp`.
ACTIVATIONS: dict[str, tuple[nn.Module, tuple[str | float, ...]]] = {
    "ReLU": (nn.ReLU(), (0.0, math.inf)),
    "ReLU6": (nn.ReLU6(), (0.0, 6.0)),
    "Hardtanh": (nn.Hardtanh(), (-1.0, 1.0)),
    "LeakyReLU": (nn.LeakyReLU(0.25), ("leaky_relu", 0.25, 0.0)),
    "Hardsigmoid": (nn.Hardsigmoid(), ("hardsigmoid", 0.0, 0.0)),
    "Hardswish": (nn.Hardswish(), ("hardswish", 0.0, 0.0)),
    "Sigmoid": (nn.Sigmoid(), ("sigmoid", 0.0, 0.0)),
    "SiLU": (nn.SiLU(), ("silu", 0.0, 0.0)),
    "Tanh": (nn.Tanh(), ("tanh", 0.0, 0.0)),
    "GELU": (nn.GELU(), ("gelu", 0.0, 0.0)),
    "GELU by tanh": (nn.GELU("tanh"), ("gelu_tanh", 0.0, 0.0)),
}


class Layer(nn.Module):
    """A layer, and what `after` makes of its result and of its input."""

    def __init__(self, layer: nn.Module, after: Any) -> None:
        super().__init__()
        self.layer, self.after = layer, after

    def forward(self, x: torch.Tensor) -> Any:
        return self.after(self.layer(x), x)


def convolution(**settings: Any) -> nn.Module:
    return nn.Conv2d(3, 3, 3, padding=1, **settings)


def linear() -> nn.Module:
    return nn.Linear(8, 8)


def fused(model: nn.Module, x: torch.Tensor = X) -> list[str]:
    """The operators after the pass, which keeps what the model computes."""
    program = core_aten(model, (x,))
    apply(program, FuseActivation())
    assert_same(program, model, x)
    return operators(program)


@pytest.mark.parametrize("make", [convolution, linear])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_goes_into_the_layer_before_it(name: str, make: Any) -> None:
    module, expected = ACTIVATIONS[name]
    program = core_aten(nn.Sequential(make(), module), (X,))
    assert apply(program, FuseActivation())
    (node,) = (n for n in program.graph.nodes if n.op == "call_function")
    assert node.target._schema.name == (
        "rushlight::" + ("convolution" if make is convolution else "linear") + "_act"
    )
    assert node.target._overloadname == ("clamp" if len(expected) == 2 else "default")
    assert node.args[-len(expected) - 1 :] == (None, *expected)


CLAMPS = {
    "clamp of both": (lambda x: torch.clamp(x, -1, 2), (-1.0, 2.0)),
    "clamp below": (lambda x: torch.clamp(x, min=0.5), (0.5, math.inf)),
    "clamp above": (lambda x: torch.clamp(x, max=2), (-math.inf, 2.0)),
}


@pytest.mark.parametrize("name", CLAMPS)
def test_bounds_that_are_not_given_are_infinite(name: str) -> None:
    function, bounds = CLAMPS[name]
    model = Layer(linear(), lambda y, x: function(y))
    program = core_aten(model, (X,))
    apply(program, FuseActivation())
    (node,) = (n for n in program.graph.nodes if n.op == "call_function")
    assert node.target._overloadname == "clamp" and node.args[-2:] == bounds
    assert_same(program, model, X)


RESIDUALS = {
    "a residual": (lambda y, x: y + x, (-math.inf, math.inf)),
    "a residual in front": (lambda y, x: x + y, (-math.inf, math.inf)),
    "a residual and an activation": (lambda y, x: torch.relu(y + x), (0.0, math.inf)),
    "a residual and another": (lambda y, x: functional.silu(y + x), ("silu", 0.0, 0.0)),
}


@pytest.mark.parametrize("make", [convolution, linear])
@pytest.mark.parametrize("name", RESIDUALS)
def test_a_residual_goes_into_the_layer_before_it(name: str, make: Any) -> None:
    after, expected = RESIDUALS[name]
    model = Layer(make(), after)
    program = core_aten(model, (X,))
    assert apply(program, FuseActivation())
    (node,) = (n for n in program.graph.nodes if n.op == "call_function")
    residual, *rest = node.args[-len(expected) - 1 :]
    assert residual.name == "x" and tuple(rest) == expected
    assert_same(program, model, X)


def test_a_residual_without_the_first_dimensions_of_size_1_is_shaped_like_the_result() -> None:
    model = Layer(nn.Linear(8, 8), lambda y, x: y + x.view(8))
    assert fused(model, torch.randn(1, 1, 8)) == [
        "view_copy",
        "unsqueeze_copy",
        "unsqueeze_copy",
        "linear_act",
    ]


UNLIKE = {
    "broadcast": lambda y, x: y + x[:, :, :1],
    "broadcast the other way": lambda y, x: y[:1] + x,
    "scaled": lambda y, x: torch.add(y, x, alpha=2),
    "read by others": lambda y, x: (torch.relu(y), y),
    "added to itself": lambda y, x: y + y,
    "made later": lambda y, x: y + torch.sin(x),
    "with fewer dimensions": lambda y, x: y + x[0, 0],
    "another dtype": lambda y, x: y + x.double(),
    "another function": lambda y, x: torch.exp(y),
    "bounds that are tensors": lambda y, x: torch.clamp(y, x, x + 1),
    "the other operand of an activation": lambda y, x: y * torch.sigmoid(y),
}


@pytest.mark.parametrize("name", UNLIKE)
def test_anything_else_stays(name: str) -> None:
    assert not any("_act" in each for each in fused(Layer(convolution(), UNLIKE[name])))


def test_the_later_of_two_layers_takes_the_sum() -> None:
    class Both(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = convolution(), convolution()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(self.first(x) + self.second(x))

    assert fused(Both()) == ["convolution", "convolution_act"]


def test_layers_without_bias_and_with_settings() -> None:
    settings = {"bias": False, "groups": 3, "stride": 2, "dilation": 1}
    assert fused(nn.Sequential(convolution(**settings), nn.ReLU())) == ["convolution_act"]
    assert fused(nn.Sequential(nn.Linear(8, 8, bias=False), nn.SiLU())) == ["linear_act"]
    assert fused(nn.Sequential(nn.ConvTranspose2d(3, 4, 2, stride=2), nn.ReLU())) == ["convolution_act"]


def test_sizes_may_be_symbols() -> None:
    n = torch.export.Dim("n", max=16)
    model = Layer(linear(), lambda y, x: torch.relu(y + x))
    program = core_aten(model, (torch.randn(4, 8),), ({0: n},))
    apply(program, FuseActivation())
    assert operators(program) == ["linear_act"]
    assert_same(program, model, torch.randn(7, 8))


ANY, CLAMP = "rushlight::linear_act.out", "rushlight::linear_act.clamp_out"


@pytest.mark.parametrize("dtypes", [None, ["float32"]])
def test_it_waits_for_the_operator_in_the_dtype(dtypes: list[str] | None) -> None:
    library = LIBRARY.without(ANY, dtypes).without(CLAMP, dtypes)
    program = core_aten(nn.Sequential(linear(), nn.ReLU()), (X,))
    assert not FuseActivation().run(program, PassContext(library))
    assert operators(program) == ["linear", "relu"]


def test_bounds_are_an_activation_like_others_where_they_have_no_operator_of_their_own() -> None:
    program = core_aten(nn.Sequential(linear(), nn.ReLU()), (X,))
    assert FuseActivation().run(program, PassContext(LIBRARY.without(CLAMP)))
    (node,) = (n for n in program.graph.nodes if n.op == "call_function")
    assert node.args[-4:] == (None, "clamp", 0.0, math.inf)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.last = nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = functional.relu6(self.first(x))
        return functional.gelu(self.last((y + functional.hardswish(self.second(y))).mean((2, 3))))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_a_program_has_them_and_computes_the_same(dtype: torch.dtype) -> None:
    model, x = Net().to(dtype).eval(), X.to(dtype)
    exported = rushlight.export(model, (x,))
    (method,) = read_program(exported.buffer).plans
    called = [name for name, _ in method.calls()]
    assert called.count("rushlight::convolution_act.clamp_out") == 1
    assert called.count("rushlight::convolution_act.out") == 1
    assert called.count("rushlight::linear_act.out") == 1
    (actual,) = rushlight.load(exported.buffer).forward(x)
    tolerance = {torch.float16: 5e-3, torch.bfloat16: 4e-2}.get(dtype, 1e-5)
    torch.testing.assert_close(torch.as_tensor(actual), model(x), rtol=tolerance, atol=tolerance)


def test_programs_for_the_official_runtime_have_none() -> None:
    exported = rushlight.export(Net().eval(), (X,), runtime="executorch")
    (method,) = read_program(exported.buffer).plans
    assert not any(name.startswith("rushlight::") for name in method.operators)

# SPDX-License-Identifier: BSD-3-Clause
"""Each difference that opinfo/differences.yaml states exists: our result is as stated, PyTorch's is not."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
import yaml

from support.harness import Kernels, poison

LISTED = yaml.safe_load((Path(__file__).parent / "opinfo" / "differences.yaml").read_text())
TESTED: set[str] = set()


def states(names: str) -> str:
    """Marks a line of the list as tested."""
    assert names in LISTED
    TESTED.add(names)
    return names


def result(kernels: Kernels, name: str, x: torch.Tensor, *rest: object) -> list[float]:
    found = []
    for variant in kernels.variants(name):
        out = poison(torch.empty_like(x))
        kernels.run(name, [x, *rest, out], variant=variant)
        found.append(out.tolist())
    assert str(found[0]) == str(found[-1])
    return found[0]


GELU = states("gelu")


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_of_infinities(kernels: Kernels, approximate: str) -> None:
    x = torch.tensor([math.inf, -math.inf])
    assert str(result(kernels, "aten::gelu.out", x, approximate)) == "[inf, -0.0]"
    assert torch.nn.functional.gelu(x, approximate=approximate).isnan().any(), LISTED[GELU]


SIGN = states("sign")


def test_sign_of_nan(kernels: Kernels) -> None:
    x = torch.tensor([math.nan])
    assert math.isnan(result(kernels, "aten::sign.out", x)[0])
    assert torch.sign(x).item() == 0, LISTED[SIGN]


REMAINDERS = states("fmod, remainder")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("fraction", [1.0, 1e4, -1e4])
def test_remainders_by_subnormal_numbers(kernels: Kernels, fraction: float, dtype: torch.dtype) -> None:
    y = torch.tensor([torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps * fraction], dtype=dtype)
    divisor = y.item()
    x = torch.cat([torch.tensor([5.0, -1.0], dtype=dtype), y * 3.3]).repeat(8)
    exact = [math.fmod(value, divisor) for value in x.tolist()]
    assert result(kernels, "aten::fmod.Tensor_out", x, y) == exact
    assert result(kernels, "aten::fmod.Scalar_out", x, divisor) == exact
    floored = [value % divisor for value in x.tolist()]
    assert result(kernels, "aten::remainder.Tensor_out", x, y) == floored
    assert torch.fmod(x, y).isnan().any(), LISTED[REMAINDERS]


CLAMP = states("clamp")


def test_bounds_that_an_integer_does_not_hold(kernels: Kernels) -> None:
    whole = torch.tensor([0, 7, 200, 255], dtype=torch.uint8)
    for low, high in [(-5, None), (-5, 10), (5, -1), (None, 256), (-256, None)]:
        kernels.refuse("aten::clamp.out", whole, low, high, outs=[whole.clone()])
    assert torch.clamp(whole, -5)[0] == 251, LISTED[CLAMP]
    for bounds in [(-5, 300), (None, 300)]:
        with pytest.raises(RuntimeError, match="overflow"):
            torch.clamp(whole, *bounds)
    kernels.check("aten::clamp.out", whole, 1.5, 300.5)  # computed in float32


EXPONENTIAL = states("linalg_matrix_exp")


def test_exponentials_of_float32_are_rounded_once(kernels: Kernels) -> None:
    worst = 0.0
    for seed in range(20):
        generator = torch.Generator().manual_seed(seed)
        for scale in (0.1, 1, 10):
            a = torch.randn(5, 5, generator=generator) * scale
            exact = torch.linalg.matrix_exp(a.double())
            kernels.check(
                "aten::linalg_matrix_exp.out", a, eager=lambda _, e=exact: e.float(), rtol=1.2e-7, atol=0
            )
            off = (torch.linalg.matrix_exp(a) - exact).abs() / exact.abs()
            worst = max(worst, off.max().item())
    assert 1e-4 < worst < 5e-3, LISTED[EXPONENTIAL]


SPECTRUM = states("_linalg_svd, linalg_pinv")


def test_matrices_with_nan(kernels: Kernels) -> None:
    a = torch.eye(3)
    a[2, 1] = math.nan
    values, vectors = torch.zeros(3), torch.zeros(3, 3)
    kernels.run("aten::_linalg_svd.U", [a, True, True, None, vectors, values, vectors.clone()])
    assert values.isnan().all()
    kernels.run("aten::linalg_pinv.atol_rtol_tensor_out", [a, None, None, False, vectors])
    assert vectors.isnan().any()
    for function in (torch.linalg.svd, torch.linalg.pinv):
        with pytest.raises(RuntimeError):
            function(a)
    assert LISTED[SPECTRUM]


ONE_HOT = states("one_hot")


def test_one_hot_is_taken_apart_with_assertions() -> None:
    class OneHot(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.one_hot(x, 5)

    program = torch.export.export(OneHot(), (torch.tensor([0, 4]),)).run_decompositions()
    called = [str(node.target) for node in program.graph.nodes if node.op == "call_function"]
    assert "aten._assert_async.msg" in called and "aten.eq.Tensor" in called, LISTED[ONE_HOT]


def test_each_line_is_tested() -> None:
    assert LISTED.keys() == TESTED

# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from rushlight.export.passes import PassContext
from rushlight.export.passes.fuse_rms_norm import FuseRmsNorm
from rushlight.export.passes.remove_dead_code import RemoveDeadCode
from support.graphs import LIBRARY, apply, assert_same, core_aten, operators

X = torch.randn(2, 5, 8)
W = torch.randn(8)


def by_hand(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return w * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


NORMS = {
    "nn.RMSNorm": nn.RMSNorm(8, eps=1e-5),
    "two dimensions": nn.RMSNorm((5, 8), eps=1e-5),
    "without weight": nn.RMSNorm(8, elementwise_affine=False),
}
WRITTEN = {
    "as Llama has it": by_hand,
    "with a product": lambda x, w: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w,
    "with a square": lambda x, w: torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * x * w,
}


@pytest.mark.parametrize("name", NORMS)
def test_modules_become_one_operator(name: str) -> None:
    program = core_aten(NORMS[name], (X,))
    assert apply(program, FuseRmsNorm(), RemoveDeadCode())
    assert operators(program) == ["rms_norm"]
    assert_same(program, NORMS[name], X)


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_out_becomes_one_operator(name: str) -> None:
    program = core_aten(WRITTEN[name], (X, W))
    assert apply(program, FuseRmsNorm(), RemoveDeadCode())
    assert operators(program) == ["rms_norm"]
    assert_same(program, WRITTEN[name], X, W)


def test_a_product_that_is_no_weight_stays() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return by_hand(x, torch.ones(8)) * y

    program = core_aten(function, (X, X))
    apply(program, FuseRmsNorm(), RemoveDeadCode())
    assert operators(program)[-2:] == ["rms_norm", "mul"]
    assert_same(program, function, X, X)


UNLIKE: dict[str, Any] = {
    "over the first dimension": lambda x, w: x * torch.rsqrt(x.pow(2).mean(0, keepdim=True) + 1e-6),
    "of cubes": lambda x, w: x * torch.rsqrt(x.pow(3).mean(-1, keepdim=True) + 1e-6),
    "another operand": lambda x, w: x * torch.rsqrt((x + 1).pow(2).mean(-1, keepdim=True) + 1e-6),
    "without its dimension": lambda x, w: x[0, 0] * torch.rsqrt(x.pow(2).mean(-1)[0, 0] + 1e-6),
    "read by others": lambda x, w: (x * (r := torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)), r),
    "another epsilon for each": lambda x, w: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + w[:1]),
}


@pytest.mark.parametrize("name", UNLIKE)
def test_anything_else_stays(name: str) -> None:
    program = core_aten(UNLIKE[name], (X, W))
    assert not apply(program, FuseRmsNorm())


def test_it_waits_for_the_operator() -> None:
    program = core_aten(nn.RMSNorm(8), (X,))
    assert not FuseRmsNorm().run(program, PassContext(LIBRARY.without("rushlight::rms_norm.out")))

# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from rushlight.export.passes.grouped_attention import GroupedAttention
from rushlight.export.passes.merge_views import MergeViews
from rushlight.export.passes.remove_dead_code import RemoveDeadCode
from rushlight.export.passes.remove_no_ops import RemoveNoOps
from support.graphs import apply, assert_same, core_aten, operators

Q, K, V = torch.randn(2, 6, 4, 8), torch.randn(2, 2, 5, 8), torch.randn(2, 2, 5, 8)

Repeat = Callable[[torch.Tensor], torch.Tensor]


def expanded(x: torch.Tensor) -> torch.Tensor:
    """As transformers has it."""
    batch, groups, rows, width = x.shape
    return x[:, :, None].expand(batch, groups, 3, rows, width).reshape(batch, 3 * groups, rows, width)


def attention(keys: Repeat, values: Repeat) -> Callable[..., torch.Tensor]:
    return lambda q, k, v: scaled_dot_product_attention(q, keys(k), values(v), scale=0.5)


@pytest.mark.parametrize("repeat", [expanded, lambda x: x.repeat_interleave(3, 1)])
def test_repeated_heads_are_read_where_they_are(repeat: Repeat) -> None:
    function = attention(repeat, repeat)
    program = core_aten(function, (Q, K, V))
    assert apply(program, RemoveNoOps(), MergeViews(), GroupedAttention(), RemoveDeadCode())
    assert operators(program) == ["scaled_dot_product_attention"]
    assert_same(program, function, Q, K, V)


UNLIKE = {
    "one after the other": (lambda x: x.repeat(1, 3, 1, 1), lambda x: x.repeat(1, 3, 1, 1)),
    "values alone": (lambda x: torch.cat([x, x, x], 1), expanded),
}


@pytest.mark.parametrize("name", UNLIKE)
def test_other_repetitions_stay(name: str) -> None:
    function = attention(*UNLIKE[name])
    program = core_aten(function, (Q, K, V))
    assert not apply(program, GroupedAttention())
    assert_same(program, function, Q, K, V)

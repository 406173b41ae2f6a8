# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch import Tensor, nn  # noqa: E402

import rushlight  # noqa: E402
from rushlight.program import read_program  # noqa: E402

CAUSAL = torch.ones(5, 5, dtype=torch.bool).tril()
LOW = torch.finfo(torch.float32).min


class Attention(nn.Module):
    """Four heads over [batch, 5 or 7 positions, 16]; `function` makes probabilities from queries, keys and
    masks."""

    def __init__(self, function: Callable[..., Tensor], kept: Tensor | None = None) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(3))
        self.function = function
        self.register_buffer("kept", CAUSAL if kept is None else kept)

    def forward(self, x: Tensor, y: Tensor, mask: Tensor) -> Tensor:
        heads = (
            layer(given).view(*given.shape[:2], 4, 4).transpose(1, 2)
            for layer, given in zip(self.layers, (x, y, y), strict=True)
        )
        query, key, value = heads
        found = self.function(query, key, self.kept, mask) @ value
        return found.transpose(1, 2).flatten(2)


def exported(model: nn.Module, keys: int = 5, mask: tuple[int, ...] = (2, 1, 1, 5)) -> list[str]:
    torch.manual_seed(0)
    args = (torch.randn(2, 5, 16), torch.randn(2, keys, 16), torch.randn(mask))
    program = rushlight.export(model.eval(), args)
    (result,) = rushlight.load(program.buffer).forward(*(each.numpy() for each in args))
    torch.testing.assert_close(torch.from_numpy(result.copy()), model(*args), atol=1e-5, rtol=1e-4)
    method = read_program(program.buffer).method("forward")
    return [name.partition("::")[2].partition(".")[0] for name in method.operators]


FUSED: dict[str, Callable[..., Tensor]] = {
    "plain": lambda q, k, kept, mask: (q @ k.transpose(-1, -2)).softmax(-1),
    "divided": lambda q, k, kept, mask: (q @ k.transpose(-1, -2) / 2.0).softmax(-1),
    "scaled queries": lambda q, k, kept, mask: ((q * 0.7) @ k.transpose(-1, -2)).softmax(-1),
    "added mask": lambda q, k, kept, mask: (q @ k.transpose(-1, -2) * 0.5 + mask).softmax(-1),
    "mask first": lambda q, k, kept, mask: (mask + q @ k.transpose(-1, -2)).softmax(dim=3),
    "two masks": lambda q, k, kept, mask: (q @ k.transpose(-1, -2) + mask + mask.sin()).softmax(-1),
    "causal": lambda q, k, kept, mask: torch.where(kept, q @ k.transpose(-1, -2) / 2, LOW).softmax(-1),
}


@pytest.mark.parametrize("name", FUSED)
def test_products_around_a_softmax_are_attention(name: str) -> None:
    found = exported(Attention(FUSED[name]))
    assert "scaled_dot_product_attention" in found
    assert not {"bmm", "_softmax", "permute_copy", "where"} & set(found)


def test_keys_may_be_more_than_queries() -> None:
    found = exported(Attention(FUSED["added mask"]), keys=7, mask=(4, 5, 7))
    assert "scaled_dot_product_attention" in found and "bmm" not in found


def test_a_mask_that_is_not_causal_is_kept() -> None:
    kept = torch.tensor([[True, False, True, True, False]]).expand(5, 5).clone()
    found = exported(Attention(FUSED["causal"], kept))
    assert "scaled_dot_product_attention" in found and "where" not in found


def test_three_dimensions_are_a_batch_of_one_head() -> None:
    class Single(nn.Module):
        def forward(self, x: Tensor, y: Tensor, mask: Tensor) -> Tensor:
            return torch.bmm((torch.bmm(x, y.transpose(1, 2)) * 0.25).softmax(-1), y) + mask.sum()

    found = exported(Single())
    assert "scaled_dot_product_attention" in found and "bmm" not in found


def both(query: Tensor, key: Tensor, kept: Tensor, mask: Tensor) -> Tensor:
    scores = query @ key.transpose(-1, -2)
    return scores.softmax(-1) + scores.sum() * 0


APART: dict[str, tuple[Callable[..., Tensor], Tensor | None]] = {
    "over queries": (lambda q, k, kept, mask: (q @ k.transpose(-1, -2)).softmax(-2), None),
    "scaled mask": (lambda q, k, kept, mask: ((q @ k.transpose(-1, -2) + mask) * 2).softmax(-1), None),
    "scores with another reader": (both, None),
    "a query without a key": (FUSED["causal"], torch.ones(5, 5, dtype=torch.bool).tril(-1)),
    "masked by a small number": (
        lambda q, k, kept, mask: torch.where(kept, q @ k.transpose(-1, -2), -1.0).softmax(-1),
        None,
    ),
    "masked probabilities": (lambda q, k, kept, mask: (q @ k.transpose(-1, -2)).softmax(-1) * kept, None),
}


@pytest.mark.parametrize("name", APART)
def test_other_products_stay(name: str) -> None:
    function, kept = APART[name]
    found = exported(Attention(function, kept))
    assert "bmm" in found and "scaled_dot_product_attention" not in found


def test_the_official_runtime_has_no_such_operator() -> None:
    model = Attention(FUSED["plain"])
    args: Any = (torch.randn(2, 5, 16), torch.randn(2, 5, 16), torch.randn(2, 1, 1, 5))
    program = rushlight.export(model.eval(), args, runtime="executorch")
    (method,) = read_program(program.buffer).plans
    assert "aten::bmm.out" in method.operators

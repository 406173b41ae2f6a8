# SPDX-License-Identifier: BSD-3-Clause
"""The seed determines the random values of programs."""

from __future__ import annotations

import numpy as np
import pytest

import rushlight
from rushlight.errors import InvalidArgument
from support.programs import Plan, program, scalar, tensor


def draw(count: int) -> list[list[float]]:
    """The results of a program with aten::rand_like.out, call after call."""
    plan = Plan(
        values=[tensor("float32"), scalar(None), tensor("float32", offset=4096)],
        operators=[("aten::rand_like", "out")],
        calls=[(0, [0, 1, 2, 2])],
        inputs=[0],
        outputs=[2],
    )
    method = rushlight.load(program(plan)).method("forward")
    return [method(np.zeros(2, np.float32))[0].tolist() for _ in range(count)]


def test_equal_seeds_draw_equal_numbers() -> None:
    rushlight.set_seed(7)
    first = draw(3)
    rushlight.set_seed(8)
    other = draw(3)
    rushlight.set_seed(7)
    assert draw(3) == first
    assert all(a != b for a, b in zip(first, other, strict=True))
    assert len({tuple(numbers) for numbers in first + other}) == 6


@pytest.mark.parametrize("seed", [0, (1 << 64) - 1])
def test_a_seed_is_64_bits(seed: int) -> None:
    rushlight.set_seed(seed)
    assert all(0 <= number < 1 for numbers in draw(2) for number in numbers)


@pytest.mark.parametrize("seed", [-1, 1 << 64])
def test_what_has_more_bits_is_refused(seed: int) -> None:
    with pytest.raises(InvalidArgument, match=r"2\*\*64"):
        rushlight.set_seed(seed)

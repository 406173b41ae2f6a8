# SPDX-License-Identifier: BSD-3-Clause
"""Dim orders against numpy's transpositions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rushlight.program.dim_order import inverse, is_dim_order, is_row_major, permuted, row_major

ORDERS = list(itertools.permutations(range(4)))
ARRAY = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)


@pytest.mark.parametrize("order", ORDERS)
def test_places_take_elements_as_they_lie_back_to_the_dimensions(order: tuple[int, ...]) -> None:
    assert np.array_equal(ARRAY.transpose(order).transpose(inverse(order)), ARRAY)


@pytest.mark.parametrize("dims", [(0, 2, 3, 1), (3, 0, 1, 2), (1, 0, 3, 2)])
@pytest.mark.parametrize("order", ORDERS)
def test_a_permuted_tensor_has_the_same_elements_in_memory(
    order: tuple[int, ...], dims: tuple[int, ...]
) -> None:
    in_memory = ARRAY.transpose(order)
    assert np.array_equal(ARRAY.transpose(dims).transpose(permuted(order, dims)), in_memory)


def test_an_order_names_each_dimension_once() -> None:
    assert is_dim_order((), 0) and is_dim_order([2, 0, 1], 3)
    assert not is_dim_order((0, 1), 3) and not is_dim_order((0, 0, 1), 3) and not is_dim_order((1, 2, 3), 3)


def test_row_major_is_the_order_of_counting() -> None:
    assert row_major(3) == (0, 1, 2) and row_major(0) == ()
    assert is_row_major([0, 1, 2]) and is_row_major(()) and not is_row_major((0, 2, 1))

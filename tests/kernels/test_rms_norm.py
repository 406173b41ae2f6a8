# SPDX-License-Identifier: BSD-3-Clause
"""Root mean square norms against torch eager."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional

from support.harness import (
    FLOATING,
    KernelRefused,
    Kernels,
    assert_equal,
    poison,
    random_tensor,
    with_dim_order,
)

NAME = "rushlight::rms_norm.out"


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("with_weight", [False, True])
@pytest.mark.parametrize(
    ("shape", "last"), [((2, 3, 37), 1), ((4, 5, 6), 2), ((200,), 1), ((0, 5), 1), ((3, 1), 1)]
)
def test_rows_are_divided_by_their_root_mean_square(
    kernels: Kernels, dtype: torch.dtype, with_weight: bool, shape: tuple[int, ...], last: int
) -> None:
    values = random_tensor(shape, dtype)
    sizes = list(shape[-last:])
    weight = random_tensor(sizes, dtype, seed=1) if with_weight else None
    wide = None if weight is None else weight.double()
    expected = functional.rms_norm(values.double(), sizes, wide, 1e-5).to(dtype)
    for is_dynamic in (False, True):
        out = poison(torch.empty_like(expected))
        kernels.run(NAME, [values, sizes, weight, 1e-5, out], dynamic=[out] if is_dynamic else ())
        assert_equal(out, expected)


def test_tensors_may_lie_in_any_order(kernels: Kernels) -> None:
    values, weight = random_tensor((2, 5, 6), torch.float32), random_tensor((5, 6), torch.float32, seed=1)
    expected = functional.rms_norm(values, [5, 6], weight, 1e-6)
    out = poison(with_dim_order(torch.empty(2, 5, 6), [1, 0, 2]))
    arguments: list[Any] = [with_dim_order(values, [2, 0, 1]), [5, 6], with_dim_order(weight, [1, 0]), 1e-6]
    kernels.run(NAME, [*arguments, out])
    assert_equal(out, expected)


@pytest.mark.parametrize(
    ("changed", "value", "named"),
    [
        (1, [4], "normalized_shape: expected 6 for dimension 2, got 4"),
        (1, [], "normalized_shape: expected 1 to 3 dimensions, got 0"),
        (1, [1, 2, 5, 6], "normalized_shape: expected 1 to 3 dimensions, got 4"),
        (2, torch.ones(5), "weight: expected the sizes of normalized_shape"),
        (2, torch.ones(1, 6), "weight: expected the sizes of normalized_shape"),
        (2, torch.ones(6, dtype=torch.float64), "input and weight"),
        (-1, torch.ones(2, 5, 5), "shape"),
        (-1, torch.ones(2, 5, 6, dtype=torch.float16), "input and out"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(kernels: Kernels, changed: int, value: Any, named: str) -> None:
    arguments: list[Any] = [torch.ones(2, 5, 6), [6], torch.ones(6), 1e-6, torch.ones(2, 5, 6)]
    arguments[changed] = value
    with pytest.raises(KernelRefused) as refused:
        kernels.run(NAME, arguments)
    assert named in str(refused.value)

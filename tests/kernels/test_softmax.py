# SPDX-License-Identifier: BSD-3-Clause
"""softmax and log_softmax against torch."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from support.harness import FLOATING, Kernels, assert_equal, random_tensor, with_dim_order

OPERATORS = ["aten::_softmax.out", "aten::_log_softmax.out"]
CLOSE = {"rtol": 2e-6, "atol": 2e-6}


def tolerance(dtype: torch.dtype) -> dict[str, float]:
    """Tolerances: float32 sums exponentials in another order than torch."""
    return CLOSE if dtype == torch.float32 else {"atol": 1e-12} if dtype == torch.float64 else {}


def rounded_once(name: str) -> Callable[[torch.Tensor, int, bool], torch.Tensor]:
    """The operator in float64, rounded to the input's dtype; torch rounds 16-bit types more than once."""
    function = torch.log_softmax if "log" in name else torch.softmax
    return lambda values, dim, _: function(values.double(), dim).to(values.dtype)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("dim", [0, 1, 2, -1, -3])
@pytest.mark.parametrize("name", OPERATORS)
def test_every_dtype_along_every_dimension(kernels: Kernels, name: str, dim: int, dtype: torch.dtype) -> None:
    values = random_tensor((3, 7, 5), dtype, low=-9, high=9)
    kernels.check(name, values, dim, False, eager=rounded_once(name), **tolerance(dtype))


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("name", OPERATORS)
def test_infinities_and_nan(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    inf = math.inf
    rows = [
        [-inf, -inf, -inf],
        [-inf, 1, 2],
        [inf, 1, 2],
        [inf, -inf, inf],
        [math.nan, 1, 2],
        [1, 2, math.nan],
    ]
    kernels.check(name, torch.tensor(rows, dtype=dtype), 1, False, **tolerance(dtype))


@pytest.mark.parametrize("name", OPERATORS)
def test_large_numbers_do_not_overflow(kernels: Kernels, name: str) -> None:
    kernels.check(name, torch.tensor([[3e38, 3e38, -3e38], [-3e38, -2e38, -3e38]]), -1, False, **CLOSE)


@pytest.mark.parametrize(("shape", "dim"), [((3, 300), 0), ((2, 4, 257), 1), ((5, 513), 0), ((3, 2, 256), 0)])
@pytest.mark.parametrize("name", OPERATORS)
def test_fibers_side_by_side_in_several_blocks(
    kernels: Kernels, name: str, shape: tuple[int, ...], dim: int
) -> None:
    """A block has 256 columns; the last block has the rest."""
    values = random_tensor(shape, torch.float32, low=-9, high=9)
    kernels.check(name, values, dim, False, eager=rounded_once(name), **tolerance(torch.float32))


@pytest.mark.parametrize("name", OPERATORS)
def test_a_zero_dim_tensor_is_one_fiber(kernels: Kernels, name: str) -> None:
    for dim in (0, -1):
        kernels.check(name, torch.tensor(4.0), dim, False)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3), (1, 1, 1)])
@pytest.mark.parametrize("name", OPERATORS)
def test_empty_and_single_fibers(kernels: Kernels, name: str, shape: tuple[int, ...]) -> None:
    for dim in range(len(shape)):
        kernels.check(name, random_tensor(shape, torch.float32), dim, False)


@pytest.mark.parametrize("order", [[0, 2, 3, 1], [3, 1, 0, 2]])
@pytest.mark.parametrize("dim", [0, 1, 2, 3])
@pytest.mark.parametrize("name", OPERATORS)
def test_input_and_output_of_different_dim_orders(
    kernels: Kernels, name: str, dim: int, order: list[int]
) -> None:
    values = with_dim_order(random_tensor((2, 3, 5, 4), torch.float32), order)
    for out_order in ([0, 1, 2, 3], [0, 2, 3, 1]):
        kernels.check(name, values, dim, False, out_dim_order=out_order, **CLOSE)


@pytest.mark.parametrize("name", OPERATORS)
def test_long_fibers_keep_their_accuracy(kernels: Kernels, name: str) -> None:
    values = random_tensor((2, 200_003), torch.float32, low=-1, high=1)
    function = torch.softmax if "log" not in name else torch.log_softmax
    out = torch.empty_like(values)
    kernels.run(name, [values, 1, False, out])
    assert_equal(out.double(), function(values.double(), 1), rtol=5e-7, atol=0)


@pytest.mark.parametrize("name", OPERATORS)
def test_half_to_float(kernels: Kernels, name: str) -> None:
    values = random_tensor((3, 7), torch.float16)
    function = torch.softmax if "log" not in name else torch.log_softmax
    out = torch.empty(3, 7)
    kernels.run(name, [values, 1, True, out])
    assert_equal(out, function(values.float(), 1), **CLOSE)


@pytest.mark.parametrize("name", OPERATORS)
def test_bad_arguments_are_refused(kernels: Kernels, name: str) -> None:
    values = torch.ones(2, 3)
    for dim in (2, -3):
        refused = kernels.refuse(name, values, dim, False, outs=[values.clone()])
        assert refused.error == "InvalidArgument" and "dim" in refused.log[0]
    assert kernels.refuse(name, values, 0, False, outs=[torch.ones(3, 2)]).error == "InvalidArgument"
    assert kernels.refuse(name, values, 0, False, outs=[values.double()]).error == "InvalidType"
    assert kernels.refuse(name, values, 0, True, outs=[values.clone()]).error == "InvalidType"
    assert kernels.refuse(name, values.half(), 0, True, outs=[values.half()]).error == "InvalidType"
    whole = values.int()
    assert kernels.refuse(name, whole, 0, False, outs=[whole.clone()]).error == "InvalidType"

# SPDX-License-Identifier: BSD-3-Clause
"""Random numbers: their distribution by statistics, the seed by repetition."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from support.harness import (
    FLOATING,
    INTEGRAL,
    REAL,
    UNSIGNED_WIDE,
    Kernels,
    dim_order,
    random_tensor,
    with_dim_order,
)

COUNT = 20_000

# Kernel, arguments before the out tensor, mean and standard deviation of its values.
DISTRIBUTIONS: list[tuple[str, list[Any], float, float]] = [
    ("rand.out", [[COUNT]], 0.5, math.sqrt(1 / 12)),
    ("rand_like.out", [torch.zeros(COUNT), None], 0.5, math.sqrt(1 / 12)),
    ("uniform.out", [torch.zeros(COUNT), -1.0, 3.0, None], 1, math.sqrt(16 / 12)),
    ("randn.out", [[COUNT]], 0, 1),
    ("randn_like.out", [torch.zeros(COUNT), None], 0, 1),
    ("normal.out", [torch.zeros(COUNT), 1.0, 2.0, None], 1, 2),
    ("normal.float_float_out", [1.0, 2.0, [COUNT], None], 1, 2),
    ("normal.Tensor_float_out", [torch.ones(COUNT), 2.0, None], 1, 2),
    ("normal.float_Tensor_out", [1.0, torch.full((COUNT,), 2.0), None], 1, 2),
    ("normal.Tensor_Tensor_out", [torch.ones(1), torch.full((COUNT,), 2.0), None], 1, 2),
    ("exponential.out", [torch.zeros(COUNT), 2.0, None], 0.5, 0.5),
    ("log_normal.out", [torch.zeros(COUNT), 0.0, 0.5, None], math.exp(0.125), 0.604),
    ("geometric.out", [torch.zeros(COUNT), 0.25, None], 4, math.sqrt(12)),
    ("bernoulli.out", [torch.full((COUNT,), 0.25), None], 0.25, math.sqrt(3) / 4),
    ("bernoulli.Tensor_out", [torch.zeros(COUNT), torch.tensor(0.25), None], 0.25, math.sqrt(3) / 4),
    ("bernoulli.float_out", [torch.zeros(COUNT), 0.25, None], 0.25, math.sqrt(3) / 4),
    ("randint.out", [10, [COUNT]], 4.5, math.sqrt(99 / 12)),
    ("randint.low_out", [-5, 5, [COUNT]], -0.5, math.sqrt(99 / 12)),
    ("randint_like.out", [torch.zeros(COUNT), 10, None], 4.5, math.sqrt(99 / 12)),
    ("randint_like.Tensor_out", [torch.zeros(COUNT), torch.tensor(10), None], 4.5, math.sqrt(99 / 12)),
    ("randint_like.low_dtype_out", [torch.zeros(COUNT), -5, 5, None], -0.5, math.sqrt(99 / 12)),
    ("random.to_out", [torch.zeros(COUNT), 10, None], 4.5, math.sqrt(99 / 12)),
    ("random.from_out", [torch.zeros(COUNT), -5, 5, None], -0.5, math.sqrt(99 / 12)),
]
NAMES = [name for name, *_ in DISTRIBUTIONS]


@pytest.fixture(autouse=True)
def seeded(kernels: Kernels) -> Iterator[None]:
    """Every test starts from the same seed, so that none fails at random."""
    kernels.set_seed(7)
    yield


def draw(
    kernels: Kernels, name: str, arguments: list[Any], dtype: torch.dtype = torch.float32
) -> torch.Tensor:
    out = torch.empty(COUNT, dtype=dtype)
    kernels.run(f"aten::{name}", [*arguments, out], dynamic=[out])
    return out


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(("name", "arguments", "mean", "deviation"), DISTRIBUTIONS, ids=NAMES)
def test_mean_and_deviation(
    kernels: Kernels, name: str, arguments: list[Any], mean: float, deviation: float, dtype: torch.dtype
) -> None:
    drawn = draw(kernels, name, arguments, dtype).double()
    rounding = torch.finfo(dtype).eps * max(abs(mean), 1)
    assert abs(drawn.mean() - mean) < 4 * deviation / math.sqrt(COUNT) + rounding
    assert abs(drawn.std() - deviation) < 0.06 * deviation + rounding


@pytest.mark.parametrize(("name", "arguments", "_mean", "_deviation"), DISTRIBUTIONS, ids=NAMES)
def test_equal_seeds_give_equal_numbers(
    kernels: Kernels, name: str, arguments: list[Any], _mean: float, _deviation: float
) -> None:
    kernels.set_seed(3)
    first, second = draw(kernels, name, arguments), draw(kernels, name, arguments)
    kernels.set_seed(3)
    assert torch.equal(first, draw(kernels, name, arguments))
    assert torch.equal(second, draw(kernels, name, arguments))
    assert not torch.equal(first, second)
    kernels.set_seed(4)
    assert not torch.equal(first, draw(kernels, name, arguments))


def mix(bits: int) -> int:
    """SplitMix64's mixing function of its counter."""
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB % 2**64
    return bits ^ bits >> 31


def test_the_numbers_of_a_seed_are_the_same_on_every_target(kernels: Kernels) -> None:
    step = 0x9E3779B97F4A7C15
    kernels.set_seed(11)
    for call in range(3):
        start = mix((mix(11) + call * step) % 2**64)
        expected = [(mix((start + i * step) % 2**64) >> 40) / 2**24 for i in [1, 2, 3]]
        out = torch.empty(3)
        kernels.run("aten::rand.out", [[3], out])
        assert out.tolist() == expected


def test_normal_numbers_have_the_tails_of_a_normal_distribution(kernels: Kernels) -> None:
    drawn = draw(kernels, "randn.out", [[COUNT]])
    for bound, share in [(1, 0.3173), (2, 0.0455), (3, 0.0027)]:
        assert abs((drawn.abs() > bound).double().mean() - share) < 4 * math.sqrt(share / COUNT)
    assert abs((drawn[:-1] * drawn[1:]).mean()) < 4 / math.sqrt(COUNT)


@pytest.mark.parametrize("dtype", FLOATING)
def test_uniform_numbers_stay_below_one_and_fill_the_range(kernels: Kernels, dtype: torch.dtype) -> None:
    drawn = draw(kernels, "rand.out", [[COUNT]], dtype).double()
    assert 0 <= drawn.min() < 0.01 and 0.99 < drawn.max() < 1
    shares = torch.histc(drawn, 16, 0, 1) / COUNT
    assert (shares - 1 / 16).abs().max() < 0.01


@pytest.mark.parametrize("dtype", [*REAL, *UNSIGNED_WIDE])
def test_integers_are_all_there(kernels: Kernels, dtype: torch.dtype) -> None:
    drawn = draw(kernels, "randint.low_out", [3, 9, [COUNT]], dtype).long()
    assert drawn.unique().tolist() == list(range(3, 9))


@pytest.mark.parametrize("dtype", [torch.bool, *REAL])
def test_random_reaches_up_to_what_the_dtype_holds(kernels: Kernels, dtype: torch.dtype) -> None:
    drawn = draw(kernels, "random.out", [torch.empty(COUNT, dtype=dtype), None], dtype).double()
    if dtype == torch.bool:
        largest = 1.0
    elif dtype.is_floating_point:
        largest = 2 / torch.finfo(dtype).eps
    else:
        largest = float(torch.iinfo(dtype).max)
    assert drawn.min() >= 0 and 0.99 * largest < drawn.max() <= largest


def test_random_from_a_number_on(kernels: Kernels) -> None:
    drawn = draw(kernels, "random.from_out", [torch.empty(COUNT), 100, None, None], torch.int8)
    assert drawn.unique().tolist() == list(range(100, 128))
    wide = draw(kernels, "random.from_out", [torch.empty(COUNT), -(2**63), None, None], torch.int64)
    assert wide.double().min() < -0.99 * 2**63 and wide.double().max() > 0.99 * 2**63

    drawn = draw(kernels, "random.from_out", [torch.empty(COUNT), 2**24 - 1, None, None])
    assert drawn.unique().tolist() == [2**24 - 1, 2**24]


@pytest.mark.parametrize("dtype", [*REAL, torch.uint16, torch.uint32])
def test_random_bounds_that_the_dtype_cannot_hold_are_refused(kernels: Kernels, dtype: torch.dtype) -> None:
    # With `to`, torch also refuses intervals of large integers that have no float.
    names = ["random.from_out", *([] if dtype.is_floating_point else ["randint.low_out"])]
    edges = [0, 2**7, 2**8, 2**11, 2**15, 2**16, 2**24, 2**31, 2**32, 2**53, 2**63 - 1, 65504]
    bounds = {sign * edge + step for edge in edges for sign in (1, -1) for step in (-1, 0, 1)}
    for bound in sorted(bounds):
        # torch does not return from random_(2**63 - 1) for float32.
        if not -(2**63) < bound < 2**62:
            continue
        for name in names:
            out = torch.empty(3, dtype=dtype)
            try:
                if name == "random.from_out":
                    arguments: list[Any] = [torch.empty(3), bound, None]
                    out.clone().random_(bound, None)
                else:
                    arguments = [bound, bound + 1, [3]]
                    out.clone().random_(bound, bound + 1)
            except RuntimeError:
                assert kernels.refuse(f"aten::{name}", *arguments, outs=[out]).error == "InvalidArgument", (
                    bound
                )
            else:
                generator = [None] if name == "random.from_out" else []
                kernels.run(f"aten::{name}", [*arguments, *generator, out])
                assert (out.double() >= torch.tensor(bound).to(dtype).double()).all(), bound


def test_cauchy_has_its_quartiles(kernels: Kernels) -> None:
    drawn = draw(kernels, "cauchy.out", [torch.empty(COUNT), 2.0, 3.0, None])
    for quantile, expected in [(0.25, -1), (0.5, 2), (0.75, 5)]:
        assert abs(drawn.quantile(quantile) - expected) < 0.3


@pytest.mark.parametrize("dtype", REAL)
def test_randperm_is_a_permutation(kernels: Kernels, dtype: torch.dtype) -> None:
    for n in [0, 1, 2, 100]:
        out = torch.empty(n, dtype=dtype)
        kernels.run("aten::randperm.out", [n, out], dynamic=[out])
        assert out.long().sort().values.tolist() == list(range(n))


def test_randperm_gives_every_permutation_as_often(kernels: Kernels) -> None:
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(2400):
        out = torch.empty(4, dtype=torch.int64)
        kernels.run("aten::randperm.out", [4, out])
        key = tuple(out.tolist())
        counts[key] = counts.get(key, 0) + 1
    assert len(counts) == 24 and min(counts.values()) > 60 and max(counts.values()) < 145


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("train", [True, None])
def test_dropout_zeroes_its_share_and_scales_the_others(
    kernels: Kernels, train: bool | None, dtype: torch.dtype
) -> None:
    values = random_tensor((COUNT,), dtype, low=1)
    out, mask = torch.empty_like(values), torch.empty(COUNT, dtype=torch.bool)
    kernels.run("aten::native_dropout.out", [values, 0.25, train, out, mask], dynamic=[out, mask])
    assert abs(mask.double().mean() - 0.75) < 4 * math.sqrt(3) / 4 / math.sqrt(COUNT)
    torch.testing.assert_close(out, values * mask * (1 / 0.75))


@pytest.mark.parametrize(("p", "train", "kept"), [(0.0, True, True), (1.0, False, True), (1.0, True, False)])
def test_dropout_of_all_or_nothing(kernels: Kernels, p: float, train: bool, kept: bool) -> None:
    values = with_dim_order(random_tensor((2, 3, 4, 5), torch.float32), [0, 2, 3, 1])
    out, mask = torch.empty_like(values), torch.empty(values.shape, dtype=torch.bool)
    kernels.run("aten::native_dropout.out", [values, p, train, out, mask])
    assert torch.equal(out, values * kept) and mask.eq(kept).all()


def test_bernoulli_takes_a_probability_for_each_element_wherever_it_lies(kernels: Kernels) -> None:
    p = with_dim_order(torch.tensor([0.0, 1.0]).repeat(2, 3, 4, 1), [0, 3, 1, 2])
    out = torch.empty(p.shape)
    kernels.run("aten::bernoulli.out", [p, None, out])
    assert dim_order(p) != dim_order(out) and torch.equal(out, p)
    kernels.run("aten::bernoulli.Tensor_out", [torch.empty(2, 3, 4, 2), torch.tensor([1.0, 0.0]), None, out])
    assert torch.equal(out, 1 - p)


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("dtype", FLOATING)
def test_multinomial_draws_by_weight(kernels: Kernels, dtype: torch.dtype, replacement: bool) -> None:
    weights = torch.tensor([[1, 0, 3, 4], [0, 2, 2, 0]], dtype=dtype).repeat(2000, 1)
    out = torch.empty(4000, 2, dtype=torch.int64)
    kernels.run("aten::multinomial.out", [weights, 2, replacement, None, out], dynamic=[out])
    for row in range(2):
        shares = out[row::2, 0].bincount(minlength=4) / 2000
        expected = weights[row] / weights[row].sum()
        assert (shares - expected).abs().max() < 0.05 and (shares[weights[row] == 0] == 0).all()
    assert replacement or (out[:, 0] != out[:, 1]).all()
    second = out[0::2, 1].bincount(minlength=4) / 2000
    if not replacement:
        assert abs(second[0] - (3 / 8 * 1 / 5 + 4 / 8 * 1 / 4)) < 0.05


def test_multinomial_of_one_distribution(kernels: Kernels) -> None:
    out = torch.empty(5, dtype=torch.int64)
    kernels.run("aten::multinomial.out", [torch.ones(5), 5, False, None, out])
    assert out.sort().values.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("name", "arguments", "word"),
    [
        ("randint.out", [0, [3]], "high"),
        ("uniform.out", [torch.zeros(3), 2.0, 1.0], "to"),
        ("normal.out", [torch.zeros(3), 0.0, -1.0], "std"),
        ("normal.float_Tensor_out", [0.0, torch.tensor([1.0, -1.0, 1.0])], "std"),
        ("exponential.out", [torch.zeros(3), 0.0], "lambd"),
        ("geometric.out", [torch.zeros(3), 1.0], "p"),
        ("bernoulli.float_out", [torch.zeros(3), 1.5], "p"),
        ("bernoulli.out", [torch.tensor([0.5, math.nan, 1.0])], "p"),
        ("bernoulli.Tensor_out", [torch.zeros(3), torch.ones(2, 3)], "p"),
        ("cauchy.out", [torch.zeros(3), 0.0, 0.0], "sigma"),
        ("rand.out", [[-1]], "size"),
    ],
)
def test_parameters_out_of_range_are_refused(
    kernels: Kernels, name: str, arguments: list[Any], word: str
) -> None:
    refused = kernels.refuse(f"aten::{name}", *arguments, outs=[torch.empty(3)])
    assert refused.error == "InvalidArgument" and word in refused.log[0]


def test_what_multinomial_and_randperm_refuse(kernels: Kernels) -> None:
    out = torch.empty(2, dtype=torch.int64)
    for weights in [[1.0, -1.0, 1.0], [math.inf, 1.0, 1.0], [0.0, 0.0, 1.0], [math.nan, 1.0, 1.0]]:
        assert "self" in kernels.refuse("aten::multinomial.out", torch.tensor(weights), 2, outs=[out]).log[0]
    assert "num_samples" in kernels.refuse("aten::multinomial.out", torch.ones(1), 2, outs=[out]).log[0]
    kernels.refuse("aten::randperm.out", -1, outs=[out])
    assert (
        "int8" in kernels.refuse("aten::randperm.out", 200, outs=[torch.empty(200, dtype=torch.int8)]).log[0]
    )


@pytest.mark.parametrize("dtype", [torch.bool, *INTEGRAL])
def test_floating_numbers_do_not_go_into_others(kernels: Kernels, dtype: torch.dtype) -> None:
    out = torch.empty(3, dtype=dtype)
    assert kernels.refuse("aten::rand.out", [3], outs=[out]).error == "InvalidType"
    assert kernels.refuse("aten::randn.out", [3], outs=[out]).error == "InvalidType"

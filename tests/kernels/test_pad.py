# SPDX-License-Identifier: BSD-3-Clause
"""reflection_pad and replication_pad of one to three dimensions against torch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from support.harness import REAL, Kernels, random_tensor, with_dim_order

REFLECTION = [f"aten::reflection_pad{d}d.out" for d in (1, 2, 3)]
REPLICATION = [f"aten::replication_pad{d}d.out" for d in (1, 2, 3)]


@pytest.mark.parametrize("dtype", [*REAL, torch.complex64, torch.complex128])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_every_dtype(kernels: Kernels, dims: int, dtype: torch.dtype) -> None:
    x = random_tensor((2, 3, 3, 4, 5)[: dims + 2], torch.float32).to(dtype)
    padding = [2, 1, 0, 2, 1, 1][: 2 * dims]
    for name in (REFLECTION[dims - 1], REPLICATION[dims - 1]):
        kernels.check(name, x, padding)
        kernels.check(name, x[0].clone(), padding)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_any_padding(kernels: Kernels, data: st.DataObject) -> None:
    dims = data.draw(st.integers(1, 3))
    x = random_tensor((2, *data.draw(st.tuples(*[st.integers(1, 5)] * dims))), torch.int32)
    padding = data.draw(st.lists(st.integers(-4, 5), min_size=2 * dims, max_size=2 * dims))
    for name, operator in (
        (REFLECTION[dims - 1], getattr(torch.ops.aten, f"reflection_pad{dims}d")),
        (REPLICATION[dims - 1], getattr(torch.ops.aten, f"replication_pad{dims}d")),
    ):
        try:
            operator(x, padding)
        except RuntimeError:
            out = torch.empty_like(x)
            assert kernels.refuse(name, x, padding, outs=[out]).error == "InvalidArgument"
        else:
            kernels.check(name, x, padding)


def test_layouts_and_empty_batches(kernels: Kernels) -> None:
    x = with_dim_order(random_tensor((2, 3, 4, 5), torch.float32), [0, 2, 3, 1])
    for name in (REFLECTION[1], REPLICATION[1]):
        kernels.check(name, x, [1, 2, 0, 3])
        kernels.check(name, x, [1, 2, 0, 3], out_dim_order=[0, 2, 3, 1])
        kernels.check(name, torch.empty(0, 3, 4, 5), [1, 2, 0, 3])


@pytest.mark.parametrize(
    ("shape", "padding"),
    [
        ((2, 3, 4, 5), [1, 1]),
        ((4, 5), [1, 1, 1, 1]),
        ((2, 0, 4, 5), [1, 1, 1, 1]),
        ((2, 3, 4, 0), [1, 1, 1, 1]),
        ((2, 3, 4, 5), [2**31, 1, 1, 1]),
        ((2, 3, 4, 5), [-(2**62), 2**62, 1, 1]),
        ((2, 3, 4, 5), [-3, -2, 1, 1]),
    ],
)
def test_paddings_that_are_refused(kernels: Kernels, shape: tuple[int, ...], padding: list[int]) -> None:
    x = torch.empty(shape)
    for name in (REFLECTION[1], REPLICATION[1]):
        assert kernels.refuse(name, x, padding, outs=[torch.empty(shape)]).error == "InvalidArgument"


def test_dtypes_that_are_refused(kernels: Kernels) -> None:
    x = torch.ones(2, 4)
    for name in (REFLECTION[0], REPLICATION[0]):
        assert kernels.refuse(name, x, [1, 1], outs=[torch.ones(2, 6).double()]).error == "InvalidType"
        refused = kernels.refuse(name, x.bool(), [1, 1], outs=[torch.ones(2, 6).bool()])
        assert refused.error == "InvalidType"

# SPDX-License-Identifier: BSD-3-Clause
"""tril, triu, diagonal_copy, repeat_interleave, fill, resize and copies between devices, against torch."""

from __future__ import annotations

import pytest
import torch

from support.harness import ALL, REAL, Kernels, random_tensor, with_dim_order

COMPLEX = [torch.complex64, torch.complex128]


@pytest.mark.parametrize("name", ["aten::tril.out", "aten::triu.out"])
@pytest.mark.parametrize("diagonal", [0, 1, -1, 2, -2, 10, -10, 2**62, -(2**62)])
def test_triangles(kernels: Kernels, name: str, diagonal: int) -> None:
    for shape in [(4, 4), (3, 5), (5, 3), (2, 3, 4), (0, 3), (2, 0), (1, 1, 1, 1)]:
        kernels.check(name, random_tensor(shape, torch.float32), diagonal)


@pytest.mark.parametrize("dtype", [torch.bool, *REAL, *COMPLEX])
def test_triangles_of_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    values = random_tensor((3, 4), torch.float32).to(dtype)
    kernels.check("aten::tril.out", values)
    kernels.check("aten::triu.out", values, 1)


def test_triangles_in_another_dim_order(kernels: Kernels) -> None:
    values = with_dim_order(random_tensor((2, 3, 4, 5), torch.float32), [0, 2, 3, 1])
    kernels.check("aten::tril.out", values, 1)
    kernels.check("aten::triu.out", values, out_dim_order=[0, 2, 3, 1])


def test_a_vector_has_no_triangle(kernels: Kernels) -> None:
    assert "self" in kernels.refuse("aten::tril.out", torch.ones(3), outs=[torch.ones(3)]).log[0]


@pytest.mark.parametrize("dtype", [*ALL, *COMPLEX])
def test_diagonals_of_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    kernels.check("aten::diagonal_copy.out", torch.arange(12).reshape(3, 4).to(dtype), 1)


@pytest.mark.parametrize("offset", [0, 1, -1, 3, -2, 4, 100, -100, 2**62])
@pytest.mark.parametrize("dims", [(0, 1), (1, 0), (-1, 0), (1, 3), (2, -4)])
def test_diagonals(kernels: Kernels, offset: int, dims: tuple[int, int]) -> None:
    values = random_tensor((3, 4, 2, 5), torch.float32)
    kernels.check("aten::diagonal_copy.out", values, offset, *dims)
    kernels.check("aten::diagonal_copy.out", with_dim_order(values, [0, 2, 3, 1]), offset, *dims)
    kernels.check("aten::diagonal_copy.out", torch.zeros(3, 0, 2, 5), offset, *dims)


def test_diagonals_that_are_refused(kernels: Kernels) -> None:
    out = torch.ones(3)
    assert "dim2" in kernels.refuse("aten::diagonal_copy.out", torch.ones(3, 3), 0, 1, -1, outs=[out]).log[0]
    assert "self" in kernels.refuse("aten::diagonal_copy.out", torch.ones(3), outs=[out]).log[0]
    kernels.refuse("aten::diagonal_copy.out", torch.ones(3, 3), 0, 0, 2, outs=[out])


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_repeat_interleave(kernels: Kernels, dtype: torch.dtype) -> None:
    for counts in [[2, 3, 1], [0, 4, 0], [0], []]:
        repeats = torch.tensor(counts, dtype=dtype)
        kernels.check("aten::repeat_interleave.Tensor_out", repeats)
        kernels.check("aten::repeat_interleave.Tensor_out", repeats, output_size=sum(counts))


def test_repeats_that_are_refused(kernels: Kernels) -> None:
    name, out = "aten::repeat_interleave.Tensor_out", torch.zeros(3, dtype=torch.int64)
    assert "repeats" in kernels.refuse(name, torch.tensor([4, -1]), outs=[out]).log[0]
    assert "repeats" in kernels.refuse(name, torch.tensor([2**62, 2**62]), outs=[out]).log[0]
    assert "output_size" in kernels.refuse(name, torch.tensor([3]), output_size=4, outs=[out]).log[0]
    assert "repeats" in kernels.refuse(name, torch.tensor(3), outs=[out]).log[0]
    assert kernels.refuse(name, torch.tensor([3.0]), outs=[out]).error == "InvalidType"


@pytest.mark.parametrize("dtype", ALL)
def test_fill(kernels: Kernels, dtype: torch.dtype) -> None:
    for values in [torch.empty((), dtype=dtype), torch.empty(2, 3, dtype=dtype), torch.empty(0, dtype=dtype)]:
        for value in [2, 0.5, True]:
            kernels.check("aten::fill.Scalar_out", values, value)
            kernels.check("aten::fill.Tensor_out", values, torch.tensor(value))


def test_fill_wants_one_element_and_the_dtype_of_self(kernels: Kernels) -> None:
    out = torch.ones(3)
    assert "value" in kernels.refuse("aten::fill.Tensor_out", out, torch.ones(2), outs=[out]).log[0]
    assert kernels.refuse("aten::fill.Scalar_out", out.double(), 1, outs=[out]).error == "InvalidType"


@pytest.mark.parametrize("name", ["et_copy::_h2d_copy.out", "et_copy::_d2h_copy.out"])
@pytest.mark.parametrize("dtype", [*ALL, *COMPLEX])
def test_copies_between_devices(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    values = with_dim_order(torch.arange(24).reshape(1, 2, 3, 4).to(dtype), [0, 2, 3, 1])
    out = torch.zeros(1, 2, 3, 4, dtype=dtype)
    kernels.run(name, [values, out], dynamic=[out])
    assert torch.equal(out, values)


def test_resize_keeps_the_first_elements(kernels: Kernels) -> None:
    values = with_dim_order(torch.arange(24).reshape(1, 2, 3, 4), [0, 2, 3, 1])
    for size in [[2, 3], [4, 6], [], [0, 7]]:
        kernels.check(
            "aten::resize.out",
            values,
            size,
            eager=lambda x, s: x.flatten()[: torch.Size(s).numel()].reshape(s),
        )
    out = torch.full((5, 5), -1)
    kernels.run("aten::resize.out", [values, [5, 5], None, out])
    assert out.flatten()[:24].tolist() == list(range(24))


def test_resize_to_the_shape_of_another(kernels: Kernels) -> None:
    kernels.check(
        "aten::resize_as.out", torch.arange(24), torch.empty(4, 5), eager=lambda x, t: x[:20].reshape(4, 5)
    )

# SPDX-License-Identifier: BSD-3-Clause
"""Complex numbers and the reals they are made of."""

from __future__ import annotations

import pytest
import torch

from support.harness import COMPLEX, Kernels, random_tensor, with_dim_order

PARTS = {torch.complex32: torch.float16, torch.complex64: torch.float32, torch.complex128: torch.float64}
SHAPES = [(), (0,), (3,), (2, 0, 3), (2, 3, 4)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_numbers_are_seen_as_pairs_of_reals(
    kernels: Kernels, dtype: torch.dtype, shape: tuple[int, ...]
) -> None:
    z = random_tensor(shape, dtype)
    kernels.check("aten::view_as_real_copy.out", z)
    kernels.check("aten::view_as_complex_copy.out", torch.view_as_real(z).clone())


def test_pairs_are_found_in_any_dim_order(kernels: Kernels) -> None:
    z = with_dim_order(random_tensor((2, 3, 4), torch.complex64), [2, 0, 1])
    kernels.check("aten::view_as_real_copy.out", z)
    kernels.check("aten::view_as_real_copy.out", z, out_dim_order=[3, 1, 0, 2])
    pairs = with_dim_order(random_tensor((3, 5, 2), torch.float32), [2, 0, 1])
    kernels.check(
        "aten::view_as_complex_copy.out", pairs, eager=lambda x: torch.view_as_complex(x.contiguous())
    )


@pytest.mark.parametrize("dtype", COMPLEX)
def test_conjugates_change_the_sign_of_zeros_and_nan_too(kernels: Kernels, dtype: torch.dtype) -> None:
    special = torch.tensor([0.0, -0.0, torch.inf, -torch.inf, torch.nan, 1.5])
    z = torch.complex(special.flip(0), special).to(dtype)
    for name in ("conj_physical", "_conj_physical", "_conj_copy"):
        out = torch.empty_like(z)
        kernels.run(f"aten::{name}.out", [z, out])
        for part, expected in (("real", z), ("imag", z.conj().resolve_conj())):
            ours, theirs = getattr(out, part).double(), getattr(expected, part).double()
            torch.testing.assert_close(ours, theirs, rtol=0, atol=0, equal_nan=True)
            assert torch.equal(ours.signbit(), theirs.signbit())


def test_a_real_number_is_its_own_conjugate(kernels: Kernels) -> None:
    kernels.check("aten::conj_physical.out", random_tensor((2, 3), torch.int16))
    kernels.check("aten::_conj_physical.out", random_tensor((2, 3), torch.bfloat16))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_is_made_of_broadcast_reals(kernels: Kernels, dtype: torch.dtype) -> None:
    real, imag = (
        random_tensor(shape, PARTS[dtype], seed=seed) for seed, shape in ((0, (3, 1)), (1, (2, 1, 4)))
    )
    kernels.check("aten::complex.out", real, imag)
    kernels.check("aten::complex.out", imag, real, out_dim_order=[2, 0, 1])
    kernels.check("aten::complex.out", real[0, 0].clone(), real[1, 0].clone())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_complex_numbers_from_size_and_angle(kernels: Kernels, dtype: torch.dtype) -> None:
    size, angle = random_tensor((3, 1), dtype), random_tensor((2, 1, 4), dtype, seed=1)
    kernels.check("aten::polar.out", size, angle)
    kernels.check("aten::polar.out", size[0, 0].clone(), angle[0, 0, 0].clone())
    kernels.check("aten::polar.out", size[:0].clone(), angle)
    extremes = torch.tensor([torch.inf, 1, 0, torch.nan], dtype=dtype)
    kernels.check("aten::polar.out", extremes, torch.tensor([0, torch.inf, 3, 0], dtype=dtype))


def test_views_refuse_what_they_cannot_show(kernels: Kernels) -> None:
    z = random_tensor((3,), torch.complex64)
    x = random_tensor((3, 2), torch.float32)
    kernels.refuse("aten::view_as_real_copy.out", x, outs=[torch.empty(3, 2, 2)])
    kernels.refuse("aten::view_as_real_copy.out", z, outs=[torch.empty(3, 2, dtype=torch.int32)])
    kernels.refuse("aten::view_as_real_copy.out", torch.zeros([1] * 16, dtype=z.dtype), outs=[torch.empty(2)])
    kernels.refuse("aten::view_as_complex_copy.out", x, outs=[z.to(torch.complex128)])
    kernels.refuse("aten::view_as_complex_copy.out", x, outs=[torch.empty(3)])
    kernels.refuse("aten::view_as_complex_copy.out", x.t().contiguous(), outs=[z.clone()])
    kernels.refuse("aten::view_as_complex_copy.out", x[0, 0].clone(), outs=[z.clone()])
    kernels.refuse("aten::complex.out", x, x.double(), outs=[torch.empty(3, 2, dtype=z.dtype)])
    kernels.refuse("aten::complex.out", x, x, outs=[torch.empty(3, 2, dtype=torch.complex128)])
    kernels.refuse("aten::conj_physical.out", z, outs=[torch.empty(3)])
    kernels.refuse("aten::polar.out", x, x.double(), outs=[torch.empty(3, 2, dtype=z.dtype)])
    kernels.refuse("aten::polar.out", x, x, outs=[torch.empty(3, 2)])
    kernels.refuse("aten::polar.out", x.half(), x.half(), outs=[torch.empty(3, 2, dtype=torch.complex32)])

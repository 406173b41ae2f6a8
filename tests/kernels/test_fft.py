# SPDX-License-Identifier: BSD-3-Clause
"""Discrete Fourier transforms against torch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from support.harness import Kernels, random_tensor

R2C, C2R, C2C = "aten::_fft_r2c.out", "aten::_fft_c2r.out", "aten::_fft_c2c.out"
LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 17, 30, 31, 64, 81, 100, 105, 127, 256]
# Rounding errors of sums of some hundred values below 5.
ROUNDING = {torch.float32: (2e-6, 5e-4), torch.float64: (1e-13, 1e-11)}


def complex_tensor(shape: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    """Random complex values whose components have `dtype`."""
    return torch.complex(random_tensor(shape, dtype, seed=seed), random_tensor(shape, dtype, seed=seed + 1))


def check(kernels: Kernels, name: str, *args: object, **kwargs: object) -> None:
    """Compares with torch, within rounding."""
    tensor = args[0]
    assert isinstance(tensor, torch.Tensor)
    rtol, atol = ROUNDING[tensor.real.dtype]
    kernels.check(name, *args, rtol=rtol, atol=atol, **kwargs)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("n", LENGTHS)
def test_every_length(kernels: Kernels, n: int, dtype: torch.dtype) -> None:
    real, spectrum = random_tensor((3, n), dtype), complex_tensor((3, n), dtype)
    for onesided in (True, False):
        check(kernels, R2C, real, [1], 0, onesided)
    for forward in (True, False):
        check(kernels, C2C, spectrum, [1], 0, forward)
    check(kernels, C2R, spectrum[:, : n // 2 + 1].contiguous(), [1], 0, n)


@pytest.mark.parametrize("normalization", [0, 1, 2])
@pytest.mark.parametrize("dims", [[0], [1], [2], [0, 1], [2, 0], [1, 2], [0, 1, 2], [2, 1, 0]])
def test_dimensions_and_normalizations(kernels: Kernels, dims: list[int], normalization: int) -> None:
    real, spectrum = (
        random_tensor((4, 3, 6), torch.float64),
        complex_tensor((4, 3, 6), torch.float64),
    )
    check(kernels, R2C, real, dims, normalization, True)
    check(kernels, R2C, real, dims, normalization, False)
    check(kernels, C2C, spectrum, dims, normalization, True)
    check(kernels, C2C, spectrum, dims, normalization, False)
    # The spectrum of a real tensor: for others torch's results depend on its order of transforms.
    half = torch.fft.rfftn(real, dim=dims)
    check(kernels, C2R, half, dims, normalization, real.shape[dims[-1]])


@settings(max_examples=30, deadline=None)
@given(shape=st.lists(st.integers(1, 9), min_size=1, max_size=4), data=st.data())
def test_any_shape(kernels: Kernels, shape: list[int], data: st.DataObject) -> None:
    dims = data.draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True))
    check(kernels, R2C, random_tensor(shape, torch.float64), dims, 0, data.draw(st.booleans()))
    check(kernels, C2C, complex_tensor(tuple(shape), torch.float64), dims, 1, data.draw(st.booleans()))


def test_no_dimension_is_a_copy(kernels: Kernels) -> None:
    check(kernels, C2C, complex_tensor((2, 3), torch.float32), [], 0, True)


def test_empty_batches(kernels: Kernels) -> None:
    kernels.run(R2C, [torch.zeros(0, 4), [1], 0, True, torch.zeros(0, 3, dtype=torch.complex64)])


def test_layouts_of_in_and_output(kernels: Kernels) -> None:
    nhwc = random_tensor((2, 3, 4, 5), torch.float32).contiguous(memory_format=torch.channels_last)
    check(kernels, R2C, nhwc, [1, 3], 0, True, out_dim_order=[0, 2, 3, 1])


def test_a_spectrum_longer_than_needed(kernels: Kernels) -> None:
    spectrum, out = complex_tensor((4, 3), torch.float64), torch.zeros(4, 3, dtype=torch.float64)
    kernels.run(C2R, [spectrum, [0], 0, 4, out])
    expected = torch.ops.aten._fft_c2r(spectrum[:3].contiguous(), [0], 0, 4)
    torch.testing.assert_close(out, expected)


def test_short_transforms_need_no_scratch(kernels: Kernels) -> None:
    out = torch.zeros(2, 5, dtype=torch.complex64)
    kernels.run(R2C, [random_tensor((2, 8), torch.float32), [1], 0, True, out], temporary_bytes=0)


def test_scratch_that_is_not_there_is_an_error(kernels: Kernels) -> None:
    out = torch.zeros(2, 501, dtype=torch.complex64)
    with pytest.raises(Exception, match="MemoryAllocationFailed"):
        kernels.run(R2C, [torch.zeros(2, 1000), [1], 0, True, out], temporary_bytes=1000)


@pytest.mark.parametrize(
    ("name", "args", "out"),
    [
        (R2C, ([1], 3, True), torch.complex64),
        (R2C, ([1], -1, True), torch.complex64),
        (R2C, ([2], 0, True), torch.complex64),
        (R2C, ([-1], 0, True), torch.complex64),
        (R2C, ([1, 1], 0, True), torch.complex64),
        (R2C, ([], 0, True), torch.complex64),
        (R2C, ([1], 0, False), torch.complex64),
        (R2C, ([1], 0, True), torch.complex128),
        (C2R, ([1], 9, 4), torch.float32),
        (C2R, ([1], 0, 0), torch.float32),
        (C2R, ([1], 0, 6), torch.float32),
        (C2R, ([-1], 0, 4), torch.float32),
        (C2R, ([], 0, 4), torch.float32),
        (C2R, ([1], 0, 4), torch.float64),
        (C2C, ([5], 0, True), torch.complex64),
        (C2C, ([1], 0, True), torch.complex128),
    ],
)
def test_what_has_no_transform_is_refused(
    kernels: Kernels, name: str, args: tuple[object, ...], out: torch.dtype
) -> None:
    source = torch.zeros(2, 4) if name == R2C else torch.zeros(2, 3, dtype=torch.complex64)
    kernels.refuse(name, source, *args, outs=[torch.zeros(2, 3, dtype=out)])

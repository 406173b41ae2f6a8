# SPDX-License-Identifier: BSD-3-Clause
"""Pseudo-inverses, least squares, exponentials, general eigenvalues and indefinite systems against torch."""

from __future__ import annotations

import pytest
import torch

from support.harness import KernelRefused, Kernels, random_tensor

DTYPES = [torch.float32, torch.float64, torch.complex64, torch.complex128]
BATCHES = [(), (3,), (2, 1), (0,)]
PINV = "aten::linalg_pinv.atol_rtol_tensor_out"
LSTSQ = "aten::linalg_lstsq.out"
EIG = "aten::linalg_eig.out"


def matrix(*shape: int, dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    """Random matrices."""
    real = dtype.to_real()
    values = random_tensor(shape, real, low=-1, high=1, seed=seed)
    if dtype.is_complex:
        values = torch.complex(values, random_tensor(shape, real, low=-1, high=1, seed=seed + 100))
    return values


def tolerance(dtype: torch.dtype) -> dict[str, float]:
    """Rounding errors for well-conditioned matrices with elements below 1."""
    wide = dtype in (torch.float64, torch.complex128)
    return {"rtol": 1e-11, "atol": 1e-12} if wide else {"rtol": 1e-5, "atol": 3e-6}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5), (1, 1), (0, 3), (3, 0)])
def test_pseudo_inverses(
    kernels: Kernels, shape: tuple[int, int], batch: tuple[int, ...], dtype: torch.dtype
) -> None:
    kernels.check(PINV, matrix(*batch, *shape, dtype=dtype), **tolerance(dtype))


def test_tolerances_of_pseudo_inverses(kernels: Kernels) -> None:
    def compare(a: torch.Tensor, atol: object, rtol: object, hermitian: bool = False) -> None:
        atol, rtol = (None if t is None else torch.tensor(t, dtype=torch.float64) for t in (atol, rtol))
        out = torch.empty(a.mT.shape, dtype=a.dtype)
        kernels.run(PINV, [a, atol, rtol, hermitian, out])
        expected = torch.linalg.pinv(a, atol=atol, rtol=rtol, hermitian=hermitian)
        torch.testing.assert_close(out, expected, **tolerance(a.dtype))

    diagonal = torch.diag(torch.tensor([1.0, 0.1, 0.001])).expand(2, 3, 3).contiguous()
    for atol, rtol in [(0.01, None), (None, 0.2), (0.01, 0.5), (0.0, None), (None, [0.2, 0.01])]:
        compare(diagonal, atol, rtol)
    compare(diagonal, None, [0.2, 0.01], hermitian=True)
    compare(matrix(5, 2, dtype=torch.float64) @ matrix(2, 4, dtype=torch.float64), None, 1e-8)


@pytest.mark.parametrize("dtype", DTYPES)
def test_of_a_hermitian_matrix_the_lower_triangle_is_read(kernels: Kernels, dtype: torch.dtype) -> None:
    a = matrix(2, 4, 4, dtype=dtype)
    out = torch.empty_like(a)
    kernels.run(PINV, [a, None, None, True, out])
    torch.testing.assert_close(out, torch.linalg.pinv(a, hermitian=True), **tolerance(dtype))
    below = a.tril(-1)
    whole = below + below.mH + torch.diag_embed(a.diagonal(dim1=-2, dim2=-1).real).to(dtype)
    torch.testing.assert_close(out @ whole, torch.eye(4, dtype=dtype).expand(2, 4, 4), **tolerance(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss", None])
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4)])
def test_least_squares(
    kernels: Kernels, shape: tuple[int, int], driver: str | None, dtype: torch.dtype
) -> None:
    for batch in ((), (2,)):
        a = matrix(*batch, *shape, dtype=dtype)
        for sides in ((2,), (1,), ()):
            b = matrix(*batch, shape[0], *sides, dtype=dtype, seed=1)
            kernels.check(LSTSQ, a, b, None, driver=driver, **tolerance(dtype))


@pytest.mark.parametrize("driver", ["gelsy", "gelsd", "gelss"])
def test_least_squares_of_a_deficient_rank(kernels: Kernels, driver: str) -> None:
    a = matrix(6, 2, dtype=torch.float64) @ matrix(2, 4, dtype=torch.float64)
    b = matrix(6, 2, dtype=torch.float64, seed=1)
    kernels.check(LSTSQ, a, b, 1e-8, driver=driver, **tolerance(a.dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", [0.0, 0.1, 1.0, 30.0])
def test_exponentials(kernels: Kernels, scale: float, dtype: torch.dtype) -> None:
    """Compares with PyTorch's float64 results, also for float32: its own float32 results are off by up to
    2e-3."""
    a = matrix(2, 4, 4, dtype=dtype) * scale
    exact = torch.linalg.matrix_exp(a.to(torch.complex128 if dtype.is_complex else torch.float64))
    largest = exact.abs().max().item()
    rounding = {"rtol": 1e-12, "atol": 1e-13 * largest}
    if dtype in (torch.float32, torch.complex64):
        rounding = {"rtol": 1.2e-7, "atol": 0.0}
    kernels.check("aten::linalg_matrix_exp.out", a, eager=lambda _: exact.to(dtype), **rounding)


def test_exponentials_of_small_and_no_matrices(kernels: Kernels) -> None:
    for shape in ((1, 1), (0, 0), (0, 3, 3), (2, 0, 0)):
        kernels.check("aten::linalg_matrix_exp.out", torch.ones(shape))


def eig(kernels: Kernels, a: torch.Tensor) -> None:
    """Checks that eigenvalues equal torch's, in any order, and that eigenvectors belong to them."""
    complex_dtype = a.dtype.to_complex()
    values = torch.empty(a.shape[:-1], dtype=complex_dtype)
    vectors = torch.empty(a.shape, dtype=complex_dtype)
    kernels.run(EIG, [a, values, vectors], dynamic=[values, vectors])
    torch.testing.assert_close(
        a.to(complex_dtype) @ vectors, vectors * values[..., None, :], **tolerance(a.dtype)
    )
    norms = torch.linalg.vector_norm(vectors, dim=-2)
    torch.testing.assert_close(norms, torch.ones_like(norms))
    if values.numel():
        # PyTorch's float32 eigenvalues are less exact than that.
        expected = torch.linalg.eigvals(a.to(torch.complex128 if a.is_complex() else torch.float64))
        for one, other in ((values, expected), (expected, values)):
            distances = (one[..., :, None] - other[..., None, :]).abs().min(dim=-1).values
            assert distances.max() < tolerance(a.dtype)["atol"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 20])
def test_general_eigenvectors(
    kernels: Kernels, size: int, batch: tuple[int, ...], dtype: torch.dtype
) -> None:
    eig(kernels, matrix(*batch, size, size, dtype=dtype))


@pytest.mark.parametrize(
    "rows",
    [
        [[0, 1], [-1, 0]],
        [[0, 1], [1, 0]],
        [[2, 0, 0], [0, 2, 0], [0, 0, 2]],
        [[0, 0, 1], [1, 0, 0], [0, 1, 0]],
        [[0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]],
        [[1, 2, 3], [0, 4, 5], [0, 0, 6]],
        [[0, 0], [0, 0]],
    ],
)
def test_eigenvalues_of_special_matrices(kernels: Kernels, rows: list[list[float]]) -> None:
    eig(kernels, torch.tensor(rows, dtype=torch.float64))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("hermitian", [False, True])
@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 9])
def test_indefinite_systems(kernels: Kernels, size: int, hermitian: bool, dtype: torch.dtype) -> None:
    for seed in range(4):
        a = matrix(2, size, size, dtype=dtype, seed=seed)
        a = (a + (a.mH if hermitian else a.mT)) / 2
        if seed % 2:
            a = a - torch.diag_embed(torch.diagonal(a, dim1=-2, dim2=-1)) * 0.999
        factor = "aten::linalg_ldl_factor_ex.out"
        kernels.check(factor, a, hermitian=hermitian, **tolerance(dtype))
        ld, pivots, _ = torch.linalg.ldl_factor_ex(a, hermitian=hermitian)
        b = matrix(2, size, 3, dtype=dtype, seed=9)
        wide = (
            {"rtol": 1e-11, "atol": 1e-11}
            if dtype.to_real() == torch.float64
            else {"rtol": 1e-5, "atol": 1e-5}
        )
        kernels.check("aten::linalg_ldl_solve.out", ld.contiguous(), pivots, b, hermitian=hermitian, **wide)


def test_what_cannot_be_computed_is_refused(kernels: Kernels) -> None:
    eye, values = torch.eye(3), torch.empty(3)
    pivots, info = torch.tensor([1, 2, 3], dtype=torch.int32), torch.empty((), dtype=torch.int32)
    for wrong in ([0, 2, 3], [1, 2, 4], [1, 2, -3], [-1, -2, 3]):
        numbers = torch.tensor(wrong, dtype=torch.int32)
        kernels.refuse("aten::linalg_ldl_solve.out", eye, numbers, eye, outs=[eye.clone()])
    kernels.refuse("aten::linalg_ldl_solve.out", eye, pivots, torch.ones(2, 3), outs=[torch.ones(2, 3)])
    zeros = torch.zeros(3, 3)
    kernels.refuse(
        "aten::linalg_ldl_factor_ex.out", zeros, check_errors=True, outs=[eye.clone(), pivots.clone(), info]
    )
    nothing, rank = torch.empty(0), torch.empty((), dtype=torch.int64)
    kernels.refuse(LSTSQ, eye, torch.ones(4), outs=[values, nothing, rank, nothing.clone()])
    kernels.refuse(LSTSQ, eye, torch.ones(3), driver="x", outs=[values, nothing, rank, nothing.clone()])
    kernels.refuse(PINV, torch.ones(2, 3), hermitian=True, outs=[torch.ones(3, 2)])
    kernels.refuse(PINV, eye, atol=torch.tensor(1), outs=[eye.clone()])
    kernels.refuse(PINV, eye, rtol=torch.ones(2), outs=[eye.clone()])
    kernels.refuse(EIG, torch.ones(2, 3), outs=[torch.empty(2, dtype=torch.complex64)] * 2)
    kernels.refuse(EIG, eye, outs=[values, eye.clone()])
    with pytest.raises(KernelRefused):
        outs = [torch.empty(2, dtype=torch.complex64), torch.empty(2, 2, dtype=torch.complex64)]
        kernels.run(EIG, [torch.full((2, 2), float("nan")), *outs])

# SPDX-License-Identifier: BSD-3-Clause
"""Eigenvalues of Hermitian matrices and singular values. Vectors are unique up to their phase only, so they
are judged by the matrix that they reconstruct."""

from __future__ import annotations

import time

import pytest
import torch

from support.harness import Kernels, random_tensor

EIGH, SVD = "aten::_linalg_eigh.eigenvalues", "aten::_linalg_svd.U"
DTYPES = [torch.float32, torch.float64, torch.complex64, torch.complex128]
BATCHES = [(), (3,), (2, 1), (0,)]
SHAPES = [(4, 4), (3, 5), (5, 3), (1, 1), (0, 0), (0, 3), (3, 0), (12, 11)]


def tolerance(dtype: torch.dtype) -> dict[str, float]:
    """Rounding errors for matrices with elements below 10."""
    wide = dtype in (torch.float64, torch.complex128)
    return {"rtol": 1e-13, "atol": 1e-13} if wide else {"rtol": 2e-6, "atol": 2e-5}


def matrix(*shape: int, dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    """Random matrices."""
    real = dtype.to_real()
    values = random_tensor(shape, real, seed=seed)
    if dtype.is_complex:
        values = torch.complex(values, random_tensor(shape, real, seed=seed + 100))
    return values


def eigh(kernels: Kernels, a: torch.Tensor, uplo: str = "L") -> tuple[torch.Tensor, torch.Tensor]:
    """Eigenvalues and eigenvectors; checks that the call for values alone gives the same."""
    values, vectors = torch.empty(a.shape[:-1], dtype=a.dtype.to_real()), torch.empty_like(a)
    kernels.run(EIGH, [a, uplo, True, values, vectors], dynamic=[values, vectors])
    alone, nothing = torch.empty_like(values), torch.empty(0, dtype=a.dtype)
    kernels.run(EIGH, [a, uplo, False, alone, nothing])
    torch.testing.assert_close(alone, values, rtol=0, atol=0)
    return values, vectors


def svd(kernels: Kernels, a: torch.Tensor, full: bool) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """U, S and Vh; checks that the call for S alone gives the same."""
    *batch, m, n = a.shape
    k = min(m, n)
    u = torch.empty(*batch, m, m if full else k, dtype=a.dtype)
    s = torch.empty(*batch, k, dtype=a.dtype.to_real())
    vh = torch.empty(*batch, n if full else k, n, dtype=a.dtype)
    kernels.run(SVD, [a, full, True, None, u, s, vh], dynamic=[u, s, vh])
    alone, nothing = torch.empty_like(s), torch.empty(0, dtype=a.dtype)
    kernels.run(SVD, [a, full, False, None, nothing.clone(), alone, nothing.clone()])
    torch.testing.assert_close(alone, s, rtol=0, atol=0)
    return u, s, vh


def assert_orthonormal(columns: torch.Tensor) -> None:
    """Checks the columns of every matrix."""
    identity = torch.eye(columns.shape[-1], dtype=columns.dtype)
    product = columns.mH @ columns
    torch.testing.assert_close(product, identity.expand(product.shape), **tolerance(columns.dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("size", [0, 1, 2, 5, 12])
def test_eigenvectors_of_any_size(
    kernels: Kernels, size: int, batch: tuple[int, ...], dtype: torch.dtype
) -> None:
    a = matrix(*batch, size, size, dtype=dtype)
    a = (a + a.mH) / 2
    values, vectors = eigh(kernels, a)
    torch.testing.assert_close(values, torch.linalg.eigvalsh(a), **tolerance(dtype))
    assert_orthonormal(vectors)
    torch.testing.assert_close(a @ vectors, vectors * values[..., None, :], **tolerance(dtype))


@pytest.mark.parametrize("uplo", ["L", "U", "l", "u"])
def test_one_triangle_is_read(kernels: Kernels, uplo: str) -> None:
    a = matrix(4, 4, dtype=torch.complex128)
    values, _ = eigh(kernels, a, uplo)
    torch.testing.assert_close(values, torch.linalg.eigvalsh(a, UPLO=uplo), **tolerance(a.dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("full", [True, False])
def test_singular_vectors_of_any_shape(
    kernels: Kernels, full: bool, shape: tuple[int, int], batch: tuple[int, ...], dtype: torch.dtype
) -> None:
    a = matrix(*batch, *shape, dtype=dtype)
    u, s, vh = svd(kernels, a, full)
    torch.testing.assert_close(s, torch.linalg.svdvals(a), **tolerance(dtype))
    assert_orthonormal(u)
    assert_orthonormal(vh.mH)
    k = s.shape[-1]
    torch.testing.assert_close((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a, **tolerance(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rank", [0, 1, 3])
@pytest.mark.parametrize("full", [True, False])
def test_deficient_ranks(kernels: Kernels, full: bool, rank: int, dtype: torch.dtype) -> None:
    a = matrix(6, rank, dtype=dtype) @ matrix(rank, 5, dtype=dtype, seed=1)
    u, s, vh = svd(kernels, a, full)
    assert_orthonormal(u)
    assert_orthonormal(vh.mH)
    torch.testing.assert_close((u[:, :5] * s) @ vh[:5], a, **tolerance(dtype))


def test_repeated_eigenvalues_and_those_of_every_size(kernels: Kernels) -> None:
    for diagonal in ([2.0, 2.0, 2.0], [1e-12, 1.0, 1e12], [0.0, 0.0, 1.0], [-1.0, 1.0, 0.0]):
        q = torch.linalg.qr(matrix(3, 3, dtype=torch.float64)).Q
        a = q @ torch.diag(torch.tensor(diagonal, dtype=torch.float64)) @ q.T
        a = (a + a.T) / 2
        values, vectors = eigh(kernels, a)
        assert_orthonormal(vectors)
        scale = a.abs().max().item() + 1
        torch.testing.assert_close((vectors * values) @ vectors.T, a, rtol=0, atol=1e-14 * scale)


def test_numbers_that_are_none_end(kernels: Kernels) -> None:
    a = torch.full((3, 3), float("nan"))
    eigh(kernels, a.nan_to_num(1.0))
    kernels.run(EIGH, [a, "L", True, torch.empty(3), torch.empty(3, 3)])
    kernels.run(SVD, [a, True, True, None, torch.empty(3, 3), torch.empty(3), torch.empty(3, 3)])
    for value in (float("nan"), float("inf")):
        a, s = torch.eye(4, 3), torch.zeros(3)
        a[2, 1] = value
        kernels.run(SVD, [a, True, False, None, torch.empty(0), s, torch.empty(0)])
        assert s.isnan().all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_large_matrix_takes_no_second(kernels: Kernels, dtype: torch.dtype) -> None:
    a = matrix(128, 128, dtype=dtype) / 64
    begin = time.process_time()
    values, vectors = eigh(kernels, (a + a.mH) / 2)
    u, s, vh = svd(kernels, a[:, :100].contiguous(), full=True)
    assert time.process_time() - begin < 1
    exact = a.to(torch.complex128 if dtype.is_complex else torch.float64)
    bound = {"rtol": 2e-6, "atol": 2e-6} if exact.dtype != dtype else {"rtol": 1e-13, "atol": 1e-13}
    torch.testing.assert_close(
        values, torch.linalg.eigvalsh((exact + exact.mH) / 2), check_dtype=False, **bound
    )
    torch.testing.assert_close(s, torch.linalg.svdvals(exact[:, :100]), check_dtype=False, **bound)
    for columns in (vectors, u, vh.mH):
        identity = torch.eye(columns.shape[-1], dtype=exact.dtype)
        wide = columns.to(exact.dtype)
        torch.testing.assert_close(wide.mH @ wide, identity, **bound)
    torch.testing.assert_close((vectors * values) @ vectors.mH, (a + a.mH) / 2, **bound)
    torch.testing.assert_close((u[:, :100] * s) @ vh, a[:, :100], **bound)


def structured() -> list[torch.Tensor]:
    """Matrices whose bidiagonal forms have zeros, or whose elements are at the limits of double."""
    wide = torch.float64
    shift = torch.diag(torch.ones(5, dtype=wide), 1)
    steps = torch.diag(torch.tensor([1.0, 0, 2, 0, 0, 3], dtype=wide)) + shift
    graded = torch.diag(10.0 ** -torch.arange(0, 12, 2, dtype=wide)) + 1e-3 * shift
    random = matrix(6, 6, dtype=wide)
    return [
        torch.zeros(6, 6, dtype=wide),
        torch.eye(6, dtype=wide),
        torch.ones(6, 6, dtype=wide),
        shift,
        shift.T.contiguous(),
        steps,
        graded,
        random * 1e150,
        random * 1e-200,
    ]


@pytest.mark.parametrize("which", range(9))
def test_structured_matrices(kernels: Kernels, which: int) -> None:
    a = structured()[which]
    scale = a.abs().max().item() or 1.0
    for part in (a, a[:, :4].contiguous(), a[:4].contiguous()):
        u, s, vh = svd(kernels, part, full=True)
        assert_orthonormal(u)
        assert_orthonormal(vh.mH)
        k = s.shape[0]
        assert (s.diff() <= 0).all()
        torch.testing.assert_close(s / scale, torch.linalg.svdvals(part / scale), rtol=0, atol=1e-14)
        torch.testing.assert_close((u[:, :k] * (s / scale)) @ vh[:k], part / scale, rtol=0, atol=1e-14)
    symmetric = a + a.T
    values, vectors = eigh(kernels, symmetric)
    assert_orthonormal(vectors)
    assert (values.diff() >= 0).all()
    product = (vectors * (values / scale)) @ vectors.T
    torch.testing.assert_close(product, symmetric / scale, rtol=0, atol=1e-14)


def test_what_has_no_vectors_is_refused(kernels: Kernels) -> None:
    a, s = torch.eye(3), torch.empty(3)
    kernels.refuse(EIGH, a, "X", outs=[s, a.clone()])
    kernels.refuse(EIGH, torch.ones(3, 2), outs=[s, a.clone()])
    kernels.refuse(EIGH, a, outs=[s.double(), a.clone()])
    kernels.refuse(EIGH, a.half(), outs=[s.half(), a.half()])
    kernels.refuse(SVD, torch.ones(3), outs=[a.clone(), s, a.clone()])
    kernels.refuse(SVD, a, driver="gesvd", outs=[a.clone(), s, a.clone()])
    kernels.refuse(SVD, a, outs=[a.clone(), s[:2].clone(), a.clone()])

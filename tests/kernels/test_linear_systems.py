# SPDX-License-Identifier: BSD-3-Clause
"""Factorizations of matrices and the systems solved with them, against torch."""

from __future__ import annotations

import pytest
import torch

from support.harness import KernelRefused, Kernels, assert_equal, random_tensor

DTYPES = [torch.float32, torch.float64, torch.complex64, torch.complex128]
BATCHES = [(), (3,), (2, 1), (0,)]
SHAPES = [(4, 4), (3, 5), (5, 3), (1, 1), (0, 0), (0, 3), (3, 0)]


def matrix(
    *shape: int, dtype: torch.dtype = torch.float64, seed: int = 0, dominant: float = 0
) -> torch.Tensor:
    """Random matrices, with `dominant` added to their diagonals."""
    real = dtype.to_real()
    values = random_tensor(shape, real, seed=seed)
    if dtype.is_complex:
        values = torch.complex(values, random_tensor(shape, real, seed=seed + 100))
    return values + dominant * torch.eye(shape[-2], shape[-1], dtype=dtype)


def positive(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Hermitian matrices with eigenvalues from 1 on."""
    values = matrix(*shape, shape[-1], dtype=dtype)
    return values @ values.mH + torch.eye(shape[-1], dtype=dtype)


def check(kernels: Kernels, name: str, *args: object, **kwargs: object) -> None:
    """Compares with torch within the rounding errors of well-conditioned systems."""
    first = args[0]
    assert isinstance(first, torch.Tensor)
    wide = first.dtype in (torch.float64, torch.complex128)
    tolerance = {"rtol": 1e-11, "atol": 1e-10} if wide else {"rtol": 1e-3, "atol": 1e-3}
    kernels.check(name, *args, **(tolerance | kwargs))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("shape", SHAPES)
def test_factors_of_any_shape(
    kernels: Kernels, shape: tuple[int, int], batch: tuple[int, ...], dtype: torch.dtype
) -> None:
    a = matrix(*batch, *shape, dtype=dtype)
    check(kernels, "aten::linalg_lu_factor_ex.out", a)
    check(kernels, "aten::linalg_lu.out", a)
    check(kernels, "aten::geqrf.a", a)
    for mode in ("reduced", "complete", "r"):
        check(kernels, "aten::linalg_qr.out", a, mode)
    lu, pivots, _ = torch.linalg.lu_factor_ex(a)
    for data, wants_pivots in ((True, True), (False, True), (True, False)):
        check(kernels, "aten::lu_unpack.out", lu.contiguous(), pivots, data, wants_pivots)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", BATCHES)
def test_square_systems(kernels: Kernels, batch: tuple[int, ...], dtype: torch.dtype) -> None:
    a = matrix(*batch, 4, 4, dtype=dtype, dominant=9)
    b = matrix(*batch, 4, 3, dtype=dtype, seed=1)
    check(kernels, "aten::linalg_inv_ex.inverse", a)
    check(kernels, "aten::_linalg_det.result", a)
    check(kernels, "aten::_linalg_slogdet.sign", a)
    lu, pivots, _ = torch.linalg.lu_factor_ex(a)
    lu = lu.contiguous()
    for adjoint in (False, True):
        check(kernels, "aten::linalg_lu_solve.out", lu, pivots, b, adjoint=adjoint)
        check(
            kernels, "aten::linalg_lu_solve.out", lu, pivots, b.mT.contiguous(), left=False, adjoint=adjoint
        )
    check(kernels, "aten::_linalg_solve_ex.result", a, b)
    check(kernels, "aten::_linalg_solve_ex.result", a, b[..., 0].contiguous())
    check(kernels, "aten::_linalg_solve_ex.result", a, b.mT.contiguous(), left=False)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("upper", [False, True])
def test_triangles(kernels: Kernels, upper: bool, dtype: torch.dtype) -> None:
    a = matrix(2, 4, 4, dtype=dtype, dominant=9)
    b = matrix(2, 4, 3, dtype=dtype, seed=1)
    for unit in (False, True):
        if unit:
            a = a / 20
        for left, right_side in ((True, b), (False, b.mT.contiguous())):
            check(
                kernels,
                "aten::linalg_solve_triangular.out",
                a.triu() if upper else a.tril(),
                right_side,
                upper=upper,
                left=left,
                unitriangular=unit,
            )
        for transpose in (False, True):
            check(kernels, "aten::triangular_solve.X", b, a, upper, transpose, unit)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("batch", BATCHES)
def test_positive_definite_systems(
    kernels: Kernels, batch: tuple[int, ...], upper: bool, dtype: torch.dtype
) -> None:
    a = positive(*batch, 4, dtype=dtype)
    check(kernels, "aten::linalg_cholesky_ex.L", a, upper=upper)
    check(kernels, "aten::cholesky.out", a, upper)
    factor = torch.linalg.cholesky(a, upper=upper).contiguous()
    check(kernels, "aten::cholesky_solve.out", matrix(*batch, 4, 2, dtype=dtype, seed=1), factor, upper)
    check(kernels, "aten::cholesky_inverse.out", factor, upper)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (1, 1), (3, 0)])
def test_products_of_reflections(kernels: Kernels, shape: tuple[int, int], dtype: torch.dtype) -> None:
    a, tau = (x.contiguous() for x in torch.geqrf(matrix(2, *shape, dtype=dtype)))
    check(kernels, "aten::linalg_householder_product.out", a, tau)
    rows = shape[0]
    for left in (True, False):
        other = matrix(2, *((rows, 2) if left else (2, rows)), dtype=dtype, seed=3)
        for transpose in (True, False):
            check(kernels, "aten::ormqr.out", a, tau, other, left, transpose)


def test_batches_broadcast(kernels: Kernels) -> None:
    a, b = matrix(3, 1, 4, 4, dominant=9), matrix(2, 4, 2, seed=1)
    check(kernels, "aten::_linalg_solve_ex.result", a, b)
    check(kernels, "aten::linalg_solve_triangular.out", a.triu(), b, upper=True)
    check(kernels, "aten::triangular_solve.X", b, a)
    check(kernels, "aten::cholesky_solve.out", b, positive(3, 1, 4))
    lu, pivots, _ = torch.linalg.lu_factor_ex(a)
    check(kernels, "aten::linalg_lu_solve.out", lu.contiguous(), pivots, b)


def test_layouts_of_outputs(kernels: Kernels) -> None:
    a = matrix(2, 4, 4, dominant=9)
    check(kernels, "aten::linalg_cholesky_ex.L", positive(2, 4), upper=True)
    out, info = torch.zeros(2, 4, 4, dtype=torch.float64).mT, torch.zeros(2, dtype=torch.int32)
    kernels.run("aten::linalg_inv_ex.inverse", [a, False, out, info])
    assert_equal(out, torch.linalg.inv(a), rtol=1e-11, atol=1e-10)


def test_singular_matrices_are_told_or_refused(kernels: Kernels) -> None:
    a = torch.tensor([[1.0, 2.0], [2.0, 4.0]])
    check(kernels, "aten::linalg_lu_factor_ex.out", a)
    check(kernels, "aten::_linalg_det.result", a)
    check(kernels, "aten::_linalg_slogdet.sign", a)
    check(kernels, "aten::_linalg_solve_ex.result", a, torch.ones(2))
    outs = [torch.zeros(2, 2), torch.zeros(2, dtype=torch.int32), torch.zeros((), dtype=torch.int32)]
    kernels.refuse("aten::linalg_lu_factor_ex.out", a, check_errors=True, outs=outs)
    kernels.refuse("aten::linalg_inv_ex.inverse", a, check_errors=True, outs=[outs[0], outs[2]])
    not_positive = torch.tensor([[1.0, 2.0], [2.0, 1.0]])
    kernels.run("aten::linalg_cholesky_ex.L", [not_positive, False, False, outs[0], outs[2]])
    assert outs[2].item() == 2
    kernels.refuse("aten::linalg_cholesky_ex.L", not_positive, check_errors=True, outs=[outs[0], outs[2]])
    kernels.refuse("aten::cholesky.out", not_positive, outs=[outs[0]])


def test_codes_of_factorizations_are_checked(kernels: Kernels) -> None:
    name = "aten::_linalg_check_errors"
    kernels.run(name, [torch.zeros(2, dtype=torch.int32), "linalg.inv", False])
    with pytest.raises(KernelRefused, match=r"linalg\.inv"):
        kernels.run(name, [torch.tensor([0, 3], dtype=torch.int32), "linalg.inv", False])


LU = torch.eye(3)
PIVOTS = torch.tensor([1, 2, 3], dtype=torch.int32)
INFO = torch.zeros((), dtype=torch.int32)


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "outs"),
    [
        ("linalg_lu_factor_ex.out", (torch.ones(3),), {}, [LU, PIVOTS, INFO]),
        ("linalg_lu_factor_ex.out", (LU,), {"pivot": False}, [LU, PIVOTS, INFO]),
        ("linalg_lu_factor_ex.out", (LU,), {}, [LU, PIVOTS.long(), INFO]),
        ("linalg_lu_factor_ex.out", (LU.int(),), {}, [LU.int(), PIVOTS, INFO]),
        ("linalg_lu_solve.out", (LU, PIVOTS + 1, LU), {}, [LU]),
        ("linalg_lu_solve.out", (LU, PIVOTS - 1, LU), {}, [LU]),
        ("linalg_lu_solve.out", (LU, PIVOTS[:2].clone(), LU), {}, [LU]),
        ("linalg_lu_solve.out", (LU, PIVOTS, LU[:2].clone()), {}, [LU]),
        ("linalg_lu_solve.out", (LU, PIVOTS, LU.double()), {}, [LU]),
        ("lu_unpack.out", (LU, PIVOTS + 1), {}, [LU, LU, LU]),
        ("lu_unpack.out", (LU, PIVOTS.long()), {}, [LU, LU, LU]),
        ("linalg_inv_ex.inverse", (torch.ones(2, 3),), {}, [torch.ones(2, 3), INFO]),
        ("_linalg_solve_ex.result", (LU, torch.ones(3)), {"left": False}, [torch.ones(3), LU, PIVOTS, INFO]),
        ("_linalg_solve_ex.result", (LU, torch.ones(4)), {}, [torch.ones(4), LU, PIVOTS, INFO]),
        ("linalg_solve_triangular.out", (LU, torch.ones(3)), {"upper": True}, [torch.ones(3)]),
        ("linalg_solve_triangular.out", (LU, torch.ones(4, 3)), {"upper": True}, [torch.ones(4, 3)]),
        ("cholesky_solve.out", (torch.ones(4, 3), LU), {}, [torch.ones(4, 3)]),
        ("linalg_qr.out", (LU, "full"), {}, [LU, LU]),
        ("linalg_householder_product.out", (LU, torch.ones(4)), {}, [LU]),
        ("linalg_householder_product.out", (torch.ones(2, 3), torch.ones(2)), {}, [torch.ones(2, 3)]),
        ("ormqr.out", (LU, torch.ones(3), torch.ones(2, 3)), {}, [torch.ones(2, 3)]),
    ],
)
def test_what_cannot_be_solved_is_refused(
    kernels: Kernels,
    name: str,
    args: tuple[object, ...],
    kwargs: dict[str, object],
    outs: list[torch.Tensor],
) -> None:
    kernels.refuse(f"aten::{name}", *args, outs=[out.clone() for out in outs], **kwargs)

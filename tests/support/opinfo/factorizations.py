# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons of decompositions whose vectors are unique up to a phase only, or whose matrices have equal
eigenvalues: by the product of their factors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

Tensors = Sequence[torch.Tensor]


def _close(actual: torch.Tensor, expected: torch.Tensor) -> None:
    """Compares within the error of a decomposition, relative to the largest element."""
    assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype)
    if expected.numel() == 0 or (not expected.is_floating_point() and not expected.is_complex()):
        torch.testing.assert_close(actual, expected, check_stride=False)
        return
    finite = expected[expected.isfinite()]
    largest = finite.abs().max().item() if finite.numel() else 0.0
    eps = torch.finfo(expected.dtype).eps
    torch.testing.assert_close(
        actual, expected, rtol=0, atol=100 * eps * (largest + 1), equal_nan=True, check_stride=False
    )


def _orthonormal(columns: torch.Tensor) -> None:
    identity = torch.eye(columns.shape[-1], dtype=columns.dtype)
    product = columns.mH @ columns
    _close(product, identity.expand(product.shape))


def _hermitian_eigenvectors(given: dict[str, Any], outs: Tensors, expected: Tensors) -> None:
    values, vectors = outs
    _close(values, expected[0])
    assert vectors.shape == expected[1].shape
    if not given["compute_v"]:
        return
    _orthonormal(vectors)
    _close(
        (vectors * values[..., None, :]) @ vectors.mH, (expected[1] * values[..., None, :]) @ expected[1].mH
    )


def _singular_vectors(given: dict[str, Any], outs: Tensors, expected: Tensors) -> None:
    u, s, vh = outs
    _close(s, expected[1])
    assert (u.shape, vh.shape) == (expected[0].shape, expected[2].shape)
    if not given["compute_uv"]:
        return
    _orthonormal(u)
    _orthonormal(vh.mH)
    k = s.shape[-1]
    _close((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], given["A"])


def _eigenvectors(given: dict[str, Any], outs: Tensors, expected: Tensors) -> None:
    """Compares eigenvectors in any order."""
    values, vectors = outs
    assert (values.shape, vectors.shape) == (expected[0].shape, expected[1].shape)
    matrix = given["self"].to(vectors.dtype)
    _close(matrix @ vectors, vectors * values[..., None, :])
    if values.numel():
        norms = torch.linalg.vector_norm(vectors, dim=-2)
        _close(norms, torch.ones_like(norms))
        distances = (values[..., :, None] - expected[0][..., None, :]).abs()
        nearest = distances.min(dim=-1).values.max().item()
        assert nearest <= 1e3 * torch.finfo(values.dtype).eps * (matrix.abs().max().item() + 1)


def _determinant(given: dict[str, Any], outs: Tensors, expected: Tensors) -> None:
    """Compares the determinant; the returned factors belong to the matrix or to its transpose, by its memory
    layout."""
    results = len(outs) - 2
    for out, value in zip(outs[:results], expected[:results], strict=True):
        _close(out, value)
    _, lower, upper = torch.lu_unpack(outs[-2], outs[-1])
    assert torch.isclose((lower @ upper).abs().square().sum(), given["A"].abs().square().sum(), rtol=1e-3)


COMPARISONS: dict[str, Callable[[dict[str, Any], Tensors, Tensors], None]] = {
    "aten::_linalg_eigh.eigenvalues": _hermitian_eigenvectors,
    "aten::_linalg_svd.U": _singular_vectors,
    "aten::linalg_eig.out": _eigenvectors,
    "aten::_linalg_det.result": _determinant,
    "aten::_linalg_slogdet.sign": _determinant,
}

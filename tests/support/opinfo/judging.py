# SPDX-License-Identifier: BSD-3-Clause
"""Compares a kernel's outs with PyTorch's results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from support.opinfo import factorizations

Tensors = Sequence[torch.Tensor]

# Random values, or uninitialized memory.
SHAPE_ONLY: set[str] = {
    f"aten::{name}"
    for name in (
        "bernoulli.Tensor_out",
        "bernoulli.float_out",
        "bernoulli.out",
        "cauchy.out",
        "empty.out",
        "empty_like.out",
        "empty_permuted.out",
        "empty_strided.out",
        "exponential.out",
        "geometric.out",
        "log_normal.out",
        "multinomial.out",
        "native_dropout.out",
        "new_empty.out",
        "new_empty_strided.out",
        "normal.Tensor_Tensor_out",
        "normal.Tensor_float_out",
        "normal.float_Tensor_out",
        "normal.float_float_out",
        "normal.out",
        "rand.out",
        "rand_like.out",
        "randint.low_out",
        "randint.out",
        "randint_like.Tensor_out",
        "randint_like.low_dtype_out",
        "randint_like.out",
        "randn.out",
        "randn_like.out",
        "random.from_out",
        "random.out",
        "random.to_out",
        "randperm.out",
        "resize.out",
        "resize_as.out",
        "rrelu_with_noise.out",
        "uniform.out",
    )
}


def _first_is_close(_given: dict[str, Any], outs: Tensors, expected: Tensors) -> None:
    """Compares the first out: the others serve the gradient alone, and PyTorch leaves parts of them
    undefined."""
    torch.testing.assert_close(outs[0], expected[0], equal_nan=True, check_stride=False)


# Results that are unique only up to a sign, an order or a phase. They raise AssertionError.
COMPARISONS: dict[str, Callable[[dict[str, Any], Tensors, Tensors], None]] = dict(factorizations.COMPARISONS)


def _positions_of_equals(given: dict[str, Any], outs: Tensors, expected: Tensors) -> None:
    """Accepts the index of any of several equal elements, if the element has the returned value."""
    values, positions = outs
    torch.testing.assert_close(values, expected[0], equal_nan=True, check_stride=False, rtol=0, atol=0)
    assert (positions.shape, positions.dtype) == (expected[1].shape, expected[1].dtype)
    source, dim = given["self"], given["dim"]
    if source.dim() == 0:
        assert positions.item() == 0
        return
    if positions.dim() < source.dim():
        values, positions = values.unsqueeze(dim), positions.unsqueeze(dim)
    torch.testing.assert_close(source.gather(dim, positions), values, equal_nan=True, rtol=0, atol=0)


for _name in ("kthvalue.values", "median.dim_values", "nanmedian.dim_values", "mode.values", "topk.values"):
    COMPARISONS[f"aten::{_name}"] = _positions_of_equals


def _sorted(given: dict[str, Any], outs: Tensors, expected: Tensors) -> None:
    if not given.get("stable"):
        _positions_of_equals(given, outs, expected)
        return
    for out, value in zip(outs, expected, strict=True):
        torch.testing.assert_close(out, value, equal_nan=True, check_stride=False, rtol=0, atol=0)


def _loss(given: dict[str, Any], outs: Tensors, expected: Tensors) -> None:
    """Compares the loss alone: the other result serves the gradient, and is defined only up to the targets'
    lengths."""
    torch.testing.assert_close(outs[0], expected[0], equal_nan=True)


for _name in ("_ctc_loss.out", "_ctc_loss.Tensor_out"):
    COMPARISONS[f"aten::{_name}"] = _loss
for _name in ("sort.values", "sort.values_stable"):
    COMPARISONS[f"aten::{_name}"] = _sorted

# The largest allowed ratio of the kernel's error to PyTorch's own error.
_MARGIN = 2.0


def judge(row: str, function: Any, given: dict[str, Any], outs: Tensors, expected: Tensors) -> None:
    """Raises AssertionError unless `outs` equal `expected` within torch.testing's tolerances, or are as near
    to PyTorch's float64 results as `expected` is.
    """
    if row in COMPARISONS:
        COMPARISONS[row](given, outs, expected)
        return
    for at, (out, value) in enumerate(zip(outs, expected, strict=True)):
        assert (out.shape, out.dtype) == (value.shape, value.dtype)
        if row in SHAPE_ONLY:
            continue
        try:
            torch.testing.assert_close(out, value, equal_nan=True, check_stride=False)
        except AssertionError:
            if not _is_as_exact(function, given, out, value, at):
                raise


def _is_as_exact(
    function: Any, given: dict[str, Any], out: torch.Tensor, value: torch.Tensor, at: int
) -> bool:
    wide = torch.complex128 if value.is_complex() else torch.float64
    if not (value.is_floating_point() or value.is_complex()) or value.dtype == wide:
        return False
    names = {argument.name for argument in function._schema.arguments}
    narrow = {value.dtype.to_real(): torch.float64, value.dtype.to_complex(): torch.complex128}
    widened = {
        name: tree_map_only(torch.Tensor, lambda t: t.to(narrow.get(t.dtype, t.dtype)), argument)
        for name, argument in given.items()
        if name in names
    }
    try:
        exact = function(**widened)
    except (RuntimeError, TypeError):
        return False
    exact = exact[at] if isinstance(exact, (tuple, list)) else exact
    finite = exact.isfinite() if exact.dtype == wide else None
    if finite is None or not torch.equal(finite, out.isfinite()) or not finite.any():
        return False
    if not torch.equal(out[~finite].nan_to_num(7), value[~finite].nan_to_num(7)):
        return False
    out, value, exact = out[finite], value[finite], exact[finite]
    error, theirs, size = (out.to(wide) - exact).abs(), (value.to(wide) - exact).abs(), exact.abs()
    if torch.Tag.pointwise not in function.tags:
        # Sums cancel: their terms may be larger than the sums.
        error, theirs, size = error.max(), theirs.max(), size.max()
    limits = torch.finfo(value.dtype)
    # One ulp is the error of rounding alone; for subnormals it is the smallest subnormal.
    floor = limits.eps * (size + limits.smallest_normal)
    return bool((error <= _MARGIN * theirs + floor).all())

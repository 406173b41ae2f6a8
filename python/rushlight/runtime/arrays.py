# SPDX-License-Identifier: BSD-3-Clause
"""Between what Python programs hold (numpy arrays, tensors, numbers) and what the runtime takes."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from rushlight.errors import InvalidArgument

# PyTorch's numbers of the element types that numpy (with ml_dtypes) can hold.
_DTYPES: dict[int, np.dtype] = {
    number: np.dtype(dtype)
    for number, dtype in {
        0: np.uint8,
        1: np.int8,
        2: np.int16,
        3: np.int32,
        4: np.int64,
        5: np.float16,
        6: np.float32,
        7: np.float64,
        9: np.complex64,
        10: np.complex128,
        11: np.bool_,
        15: ml_dtypes.bfloat16,
        27: np.uint16,
        28: np.uint32,
        29: np.uint64,
    }.items()
}
_NUMBERS = {dtype.name: number for number, dtype in _DTYPES.items()}


@dataclass(frozen=True)
class ValueInfo:
    """One input or output of a method.

    `kind` is "Tensor", "Int", "Double", "Bool", ...; the rest is None unless it is a tensor. `shape`
    holds upper bounds where `dynamic` is true. `dim_order` lists the dimensions from outermost to
    innermost in memory.
    """

    kind: str
    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    dim_order: tuple[int, ...] | None = None
    dynamic: bool | None = None

    @classmethod
    def from_native(cls, described: tuple) -> ValueInfo:
        kind, number, shape, dim_order, dynamism = described
        if number is None:
            return cls(kind)
        name = _DTYPES[number].name if number in _DTYPES else f"dtype {number}"
        return cls(kind, name, shape, dim_order, dynamism != 0)

    def __str__(self) -> str:
        if self.kind != "Tensor":
            return self.kind
        bound = "up to " if self.dynamic else ""
        return f"{self.dtype} tensor of shape {bound}{list(self.shape or ())}"


def as_array(value: Any) -> np.ndarray:
    """Any array-like as a numpy array, without a copy where that can be: the buffer protocol,
    DLPack (torch tensors included), or whatever numpy makes an array of."""
    if isinstance(value, np.ndarray):
        return value
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        if value.dtype is torch.bfloat16:  # which DLPack has and numpy has not
            return value.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16)
        return value.numpy()
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    return np.asarray(value)


def _is_plain(value: Any) -> bool:
    """Python numbers and lists of them have no dtype of their own: they take the input's."""
    return isinstance(value, (bool, int, float, list, tuple))


def _from_plain(value: Any, info: ValueInfo, index: int) -> np.ndarray:
    """Numbers or nested lists of them in the dtype of the input, which has to hold them."""
    try:
        given = np.asarray(value)
        array = given.astype(info.dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidArgument(f"input {index}: expected a {info}, got no array: {error}") from error
    if given.dtype.kind not in "biuf":
        raise InvalidArgument(f"input {index}: expected a {info}, got {given.dtype.name}")
    if array.dtype.kind in "biu" and not np.array_equal(given, array):
        raise InvalidArgument(f"input {index}: expected a {info}, got numbers that it cannot hold")
    return array


def _number(value: Any, info: ValueInfo, index: int) -> Any:
    """A value for an input that is no tensor."""
    value = value.item() if isinstance(value, np.generic) else value
    if info.kind == "Double" and type(value) is int:
        return float(value)
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, int) and -(1 << 63) <= value < 1 << 63:
        return value
    raise InvalidArgument(f"input {index}: expected {info}, got {value!r:.80}")


def to_native(value: Any, info: ValueInfo, index: int) -> Any:
    """`value` for input `index`, in the form the native module takes.

    Raises InvalidArgument for a kind, dtype or shape that is not the method's.
    """
    if info.kind != "Tensor":
        return _number(value, info, index)
    if value is None:
        raise InvalidArgument(f"input {index}: expected a {info}, got None")
    array = _from_plain(value, info, index) if _is_plain(value) else as_array(value)
    if array.dtype.name != info.dtype:
        raise InvalidArgument(
            f"input {index}: expected dtype {info.dtype}, got {array.dtype.name}",
            next_step=f"Convert it with .astype({info.dtype!r}).",
        )
    shape, dim_order = info.shape or (), info.dim_order or ()
    fits = array.size <= math.prod(shape) if info.dynamic else array.shape == shape
    if array.ndim != len(shape) or not fits:
        bound = "at most " if info.dynamic else ""
        raise InvalidArgument(f"input {index}: expected shape {bound}{list(shape)}, got {list(array.shape)}")
    # In the machine's byte order, and writable: a program may write to what it is lent.
    number = _NUMBERS[array.dtype.name]
    ordered = np.require(array.transpose(dim_order) if array.ndim else array, _DTYPES[number], ["C", "W"])
    return (number, array.shape, ordered)


def from_native(value: Any) -> Any:
    """An output of the native module: a number, None, or a fresh numpy array of the logical shape."""
    if not isinstance(value, tuple):
        return value
    number, shape, dim_order, data = value
    if number not in _DTYPES:
        raise InvalidArgument(f"output: dtype {number} has no numpy counterpart")
    array = data.view(_DTYPES[number]).reshape([shape[d] for d in dim_order])
    return array.transpose(_inverse(dim_order)) if array.ndim > 1 else array


def _inverse(order: Sequence[int]) -> list[int]:
    inverse = [0] * len(order)
    for position, dimension in enumerate(order):
        inverse[dimension] = position
    return inverse

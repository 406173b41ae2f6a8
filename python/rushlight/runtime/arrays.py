# SPDX-License-Identifier: BSD-3-Clause
"""Converts between Python values (numpy arrays, tensors, numbers) and the runtime's: numpy arrays and
numbers. torch is used only if the caller has imported it."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from rushlight.errors import InvalidArgument

# PyTorch's codes of the element types that numpy (with ml_dtypes) supports.
DTYPES: dict[int, str] = {
    0: "uint8",
    1: "int8",
    2: "int16",
    3: "int32",
    4: "int64",
    5: "float16",
    6: "float32",
    7: "float64",
    9: "complex64",
    10: "complex128",
    11: "bool",
    15: "bfloat16",
    27: "uint16",
    28: "uint32",
    29: "uint64",
}
_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


@dataclass(frozen=True)
class ValueInfo:
    """One input or output of a method.

    `kind` is "Tensor", "Int", "Double", "Bool", ...; the other fields are None unless it is a tensor.
    `shape` holds upper bounds if `dynamic` is true. `dim_order` lists the dimensions from outermost to
    innermost in memory. If `planned` is false, an input is used in place.
    """

    kind: str
    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    dim_order: tuple[int, ...] | None = None
    dynamic: bool | None = None
    planned: bool | None = None

    @classmethod
    def from_native(cls, described: tuple[str, tuple[Any, ...] | None]) -> ValueInfo:
        kind, tensor = described
        if tensor is None:
            return cls(kind)
        number, shape, dim_order, dynamism, planned, _ = tensor
        return cls(kind, DTYPES.get(number, f"dtype {number}"), shape, dim_order, dynamism != 0, planned)

    def __str__(self) -> str:
        if self.kind != "Tensor":
            return self.kind
        bound = "up to " if self.dynamic else ""
        return f"{self.dtype} tensor of shape {bound}{list(self.shape or ())}"


def torch_module() -> Any:
    """torch, if the caller has imported it."""
    return sys.modules.get("torch")


def as_array(value: Any) -> np.ndarray:
    """Any array-like as a numpy array, without a copy where possible: by the buffer protocol, DLPack (torch
    tensors included), or numpy.asarray."""
    if isinstance(value, np.ndarray):
        return value
    torch = torch_module()
    if torch is not None and isinstance(value, torch.Tensor):
        if value.dtype is torch.bfloat16:  # numpy lacks bfloat16
            return _numpy(value.detach().view(torch.int16)).view(ml_dtypes.bfloat16)
        return _numpy(value)
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    return np.asarray(value)


def _numpy(tensor: Any) -> np.ndarray:
    """A torch tensor's elements; a copy if they are on another device or computed lazily."""
    array: np.ndarray
    try:
        array = tensor.numpy()
    except (RuntimeError, TypeError):
        array = tensor.numpy(force=True)
    return array


def as_tensor(value: Any, torch: Any) -> Any:
    """An output as a torch tensor over the same memory; other values are unchanged. Torch has no read-only
    tensors, so a read-only array is copied."""
    if isinstance(value, list):
        return [as_tensor(item, torch) for item in value]
    if not isinstance(value, np.ndarray):
        return value
    if not value.flags.writeable:
        value = value.copy(order="K")
    if value.dtype is _BFLOAT16:
        return torch.from_numpy(value.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(value)


def _is_plain(value: Any) -> bool:
    """True for Python numbers and lists of them, which have no dtype and take the input's."""
    return isinstance(value, (bool, int, float, list, tuple))


def _from_plain(value: Any, info: ValueInfo, index: int) -> np.ndarray:
    """Numbers or nested lists of them in the dtype of the input, which must represent them."""
    try:
        given = np.asarray(value)
        with np.errstate(over="ignore", invalid="ignore"):  # both are checked below
            array = given.astype(info.dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidArgument(
            f"input {index}: expected a {info}, got no array: {error}", input=index
        ) from error
    if given.dtype.kind not in "biuf":
        raise InvalidArgument(f"input {index}: expected a {info}, got {given.dtype.name}", input=index)
    if array.dtype.kind in "biu":
        holds = np.array_equal(given, array)
    else:
        holds = bool(np.array_equal(np.isinf(given), np.isinf(array.astype(np.complex128))))
    if not holds:
        raise InvalidArgument(
            f"input {index}: expected a {info}, got numbers that it cannot hold", input=index
        )
    return array


def _number(value: Any, info: ValueInfo, index: int) -> Any:
    """A value for an input that is not a tensor."""
    value = value.item() if isinstance(value, np.generic) else value
    if info.kind == "Double" and type(value) is int:
        return float(value)
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, int) and -(1 << 63) <= value < 1 << 63:
        return value
    raise InvalidArgument(f"input {index}: expected {info}, got {value!r:.80}", input=index)


def to_native(value: Any, info: ValueInfo, index: int) -> Any:
    """`value` for input `index`, in the form that the native module takes: an array for a tensor, otherwise a
    number or None.

    Raises InvalidArgument for a value of another kind.
    """
    if info.kind != "Tensor":
        return _number(value, info, index)
    if value is None:
        raise InvalidArgument(f"input {index}: expected a {info}, got None", input=index)
    return _from_plain(value, info, index) if _is_plain(value) else as_array(value)


def explain(value: Any, info: ValueInfo, index: int) -> None:
    """Raises InvalidArgument with the reason why input `index` cannot be `value`, if the reason is the
    value's kind, dtype or shape."""
    array = to_native(value, info, index)
    if info.kind != "Tensor":
        return
    if array.dtype.name != info.dtype:
        raise InvalidArgument(
            f"input {index}: expected dtype {info.dtype}, got {array.dtype.name}",
            next_step=f"Convert it with .astype({info.dtype!r}).",
            input=index,
            expected_dtype=info.dtype,
            got_dtype=array.dtype.name,
        )
    shape = info.shape or ()
    fits = array.size <= math.prod(shape) if info.dynamic else array.shape == shape
    if array.ndim != len(shape) or not fits:
        bound = "at most " if info.dynamic else ""
        raise InvalidArgument(
            f"input {index}: expected shape {bound}{list(shape)}, got {list(array.shape)}",
            next_step="Reshape it, or export the model for that shape (dynamic_shapes of torch.export).",
            input=index,
            expected_shape=shape,
            got_shape=array.shape,
        )

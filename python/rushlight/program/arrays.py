# SPDX-License-Identifier: BSD-3-Clause
"""Views of tensors in files as numpy arrays. numpy is imported with the first array, because reading shapes
does not need it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rushlight.errors import InvalidArgument, InvalidProgram, MissingDependency
from rushlight.program.dim_order import inverse, is_dim_order, row_major
from rushlight.program.dtypes import NAMES, element_size
from rushlight.program.flatbuffer import Table

if TYPE_CHECKING:
    import numpy as np

MAX_RANK = 16


def read_layout(table: Table) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    """The dtype, sizes and dim order in a table; a missing order is row-major.

    Errors: InvalidProgram.
    """
    number = table.number("scalar_type")
    if number not in NAMES:
        raise InvalidProgram(f"{table.what}: expected an element type of at most {max(NAMES)}, got {number}")
    sizes = table.numbers("sizes")
    order = table.numbers("dim_order") or row_major(len(sizes))
    check_shape(sizes, order, table.what)
    return NAMES[number], sizes, order


def check_shape(sizes: tuple[int, ...], dim_order: tuple[int, ...], what: str) -> None:
    """Errors: InvalidProgram for an invalid rank, size or dim order."""
    if len(sizes) > MAX_RANK:
        raise InvalidProgram(f"{what}: expected at most {MAX_RANK} dimensions, got {len(sizes)}")
    if any(size < 0 for size in sizes):
        raise InvalidProgram(f"{what}: expected sizes of at least 0, got {list(sizes)}")
    if not is_dim_order(dim_order, len(sizes)):
        order = list(dim_order[: MAX_RANK + 1])
        raise InvalidProgram(f"{what}: expected a dim order of {len(sizes)} dimensions, got {order}")


def tensor_bytes(dtype: str, sizes: Sequence[int]) -> int:
    """The bytes of a tensor's elements."""
    return math.prod(sizes) * element_size(dtype)


def as_array(data: memoryview, dtype: str, sizes: Sequence[int], dim_order: Sequence[int]) -> np.ndarray:
    """A read-only array of shape `sizes` over data stored in `dim_order`, without a copy.

    Errors: InvalidArgument for a dtype that numpy lacks; MissingDependency.
    """
    try:
        import ml_dtypes  # noqa: F401 (its types are numpy's from here on)
        import numpy as np
    except ImportError as error:
        raise MissingDependency(error.name or "numpy", "build") from error
    try:
        kind = np.dtype(dtype)
    except TypeError as error:
        raise InvalidArgument(f"dtype: expected one that numpy has, got {dtype}") from error
    flat = np.frombuffer(data[: tensor_bytes(dtype, sizes)], kind)
    flat.flags.writeable = False
    stored = flat.reshape([sizes[d] for d in dim_order])
    array: np.ndarray = stored.transpose(inverse(dim_order))
    return array

# SPDX-License-Identifier: BSD-3-Clause
"""The random numbers of kernels."""

from __future__ import annotations

from rushlight.errors import InvalidArgument
from rushlight.runtime import native


def set_seed(seed: int) -> None:
    """Seeds the random numbers of this process's kernels with 64 bits: equal seeds and equal calls give equal
    numbers on every target (they differ from torch's). Do not call while a method runs.

    Errors: InvalidArgument for a value that is not a 64-bit integer.
    """
    if not 0 <= seed < 1 << 64:
        raise InvalidArgument(f"seed: expected 0 to 2**64 - 1, got {seed}")
    native.default_module().set_seed(seed)

# SPDX-License-Identifier: BSD-3-Clause
"""The random numbers that kernels draw."""

from __future__ import annotations

from rushlight.errors import InvalidArgument
from rushlight.runtime import native


def set_seed(seed: int) -> None:
    """Starts the random numbers of this process's kernels again, from 64 bits: equal seeds and equal calls
    give equal numbers, on every target (but not those of torch). Not while a method runs.

    Errors: InvalidArgument for what is no 64-bit number.
    """
    if not 0 <= seed < 1 << 64:
        raise InvalidArgument(f"seed: expected 0 to 2**64 - 1, got {seed}")
    native.default_module().set_seed(seed)

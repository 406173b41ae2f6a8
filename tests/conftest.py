# SPDX-License-Identifier: BSD-3-Clause
"""The fixture `kernels`: the operators of a build."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.harness import Kernels


@pytest.fixture(scope="session")
def kernels() -> Kernels:
    """The operators of the build under test."""
    # Imports torch, which not every test needs.
    from support.kernel_module import load_kernels

    return load_kernels()

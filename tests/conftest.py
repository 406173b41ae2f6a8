# SPDX-License-Identifier: BSD-3-Clause
"""The fixture `kernels`: the operators of a build; and what makes thousands of tests in one process quick."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

from support import quick_decompositions

if TYPE_CHECKING:
    from support.harness import Kernels


@pytest.fixture(scope="session")
def kernels() -> Kernels:
    """The operators of the build under test."""
    # Imports torch, which not every test needs.
    from support.kernel_module import load_kernels

    return load_kernels()


def pytest_collection_finish() -> None:
    """The collector of garbage leaves alone what is there by now: some millions of objects of torch's and of
    pytest's that live as long as the process, through which it went every few exports."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    quick_decompositions.install()

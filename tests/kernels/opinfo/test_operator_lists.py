# SPDX-License-Identifier: BSD-3-Clause
"""The table has every operator of the official runtime and of Core ATen, except the listed ones."""

from __future__ import annotations

import pytest

from support.harness import Kernels
from support.opinfo.operator_lists import NOT_CALLED, NOT_WRITTEN, core_aten, official_names

pytestmark = pytest.mark.conformance


def test_every_operator_of_the_official_runtime_is_here(kernels: Kernels) -> None:
    lists = official_names(kernels.signatures)
    assert lists["total"] >= 240
    assert lists["missing"].keys() == NOT_WRITTEN.keys()


def test_every_core_aten_overload_is_here_but_those_that_nothing_calls(kernels: Kernels) -> None:
    lists = core_aten(kernels.signatures)
    assert lists["total"] >= 189
    assert lists["missing"].keys() == NOT_CALLED.keys()

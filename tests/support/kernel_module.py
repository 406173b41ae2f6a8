# SPDX-License-Identifier: BSD-3-Clause
"""The `kernel_call` module of a build: the operators as Python calls them."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
from pathlib import Path

import pytest
import torch

from support.harness import Kernels

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = "RUSHLIGHT_KERNEL_CALL"


def _find_module() -> Path:
    """The module file that RUSHLIGHT_KERNEL_CALL names, or the newest one under the checkout's builds."""
    named = os.environ.get(VARIABLE)
    if named:
        if not Path(named).is_file():
            pytest.fail(f"{VARIABLE} names {named}, which does not exist")
        return Path(named)
    suffixes = importlib.machinery.EXTENSION_SUFFIXES
    found = [path for suffix in suffixes for path in ROOT.glob(f"build*/**/kernel_call{suffix}")]
    if not found:
        pytest.skip(f"no kernel_call module: build the target kernel_call, or set {VARIABLE} to its file")
    return max(found, key=lambda path: path.stat().st_mtime)


def load_kernels() -> Kernels:
    """The operators of the newest build."""
    # Tests compute little, and several run in parallel.
    torch.set_num_threads(1)
    spec = importlib.util.spec_from_file_location("kernel_call", _find_module())
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Kernels(module)

# SPDX-License-Identifier: BSD-3-Clause
"""Every sample of PyTorch's OpInfo database on the kernels, operator by operator and dtype by dtype.

misses.yaml names the pairs that do not pass yet, with reasons: they must fail, so that the list
stays true. To save time only the first calls of a kind are compared here; table.py compares all. Continuous
integration takes each operator in float32, and a quarter of the pairs with all dtypes.
"""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
import torch
import yaml

from support.harness import Kernels
from support.opinfo.matching import Rows
from support.opinfo.pairs import Pair, all_pairs, replay
from support.opinfo.replay import CALLS_ALIKE
from support.samples import sampled

MISSES = Path(__file__).with_name("misses.yaml")

pytestmark = pytest.mark.conformance


@functools.cache
def misses() -> dict[str, dict[str, str]]:
    """Reasons, by "name-dtype" under `fails` and by the entry's name under `without_kernel`."""
    return yaml.safe_load(MISSES.read_text())


@pytest.fixture(scope="module")
def rows(kernels: Kernels) -> Rows:
    return Rows(kernels.signatures)


@pytest.mark.parametrize("pair", sampled(all_pairs(), 4, always=lambda pair: pair.dtype == torch.float32))
def test_an_operator_does_as_pytorch_does(pair: Pair, kernels: Kernels, rows: Rows) -> None:
    outcome = replay(pair, kernels, rows, CALLS_ALIKE)
    reason = misses()["without_kernel"].get(pair.name)
    if reason is not None:
        assert outcome.missing, f"{pair.name} has all its kernels now: misses.yaml says {reason}"
        return
    assert not outcome.missing, f"no kernel, and no decomposition: {sorted(outcome.missing)}"
    reason = misses()["fails"].get(str(pair))
    if reason is not None:
        assert outcome.failures, f"{pair} passes now: misses.yaml says {reason}"
        return
    shown = "\n".join(outcome.failures[:5])
    assert not outcome.failures, f"{len(outcome.failures)} calls of {outcome.samples} samples:\n{shown}"

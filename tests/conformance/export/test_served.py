# SPDX-License-Identifier: BSD-3-Clause
"""Samples of OpInfo for which kernels lack an operator or a dtype, on PyTorch's kernels: the numbers of eager
PyTorch. Continuous integration takes one pair of sixty; served_table.py takes all, and writes docs/aten.md.

misses.yaml names the pairs that fail with reasons: they must fail, so that the list stays true.
"""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from support.export.exported import load_misses  # noqa: E402
from support.export.served import judge_served  # noqa: E402
from support.opinfo.pairs import Pair, all_pairs  # noqa: E402
from support.samples import sampled  # noqa: E402

MISSES = Path(__file__).with_name("misses.yaml")

pytestmark = pytest.mark.conformance


@functools.cache
def misses() -> dict[str, str]:
    """Reasons by "name-dtype"."""
    return load_misses(MISSES)["served"]


@pytest.mark.parametrize("pair", sampled(all_pairs(), 60))
def test_pytorch_computes_what_kernels_lack(pair: Pair) -> None:
    outcome = judge_served(pair)
    if str(pair) in misses():
        assert outcome.result not in ("kernels", "equal", "close"), f"{pair} passes now"
    else:
        assert outcome.result in ("kernels", "equal", "close", "no samples"), outcome


@pytest.mark.parametrize("name", ["hash_tensor-float32", "addr-complex64", "nn.functional.mse_loss-bfloat16"])
def test_pytorch_computes_these_bit_for_bit(name: str) -> None:
    """None of the pairs above may be one that kernels lack an operator for."""
    outcome = judge_served(next(pair for pair in all_pairs() if str(pair) == name))
    assert outcome.result == "equal", outcome
    assert outcome.operators


def test_only_pairs_are_named() -> None:
    assert misses().keys() <= {str(pair) for pair in all_pairs()}

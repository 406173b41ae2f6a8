# SPDX-License-Identifier: BSD-3-Clause
"""Every entry of PyTorch's OpInfo database in float32: exported, run here, and on the official runtime.

misses.yaml names the failures with reasons: they must fail, so that the list stays true.
`export_table.py opinfo` takes more samples and other dtypes. Continuous integration takes one entry of three.
"""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from support.export.entries import judge_pair  # noqa: E402
from support.export.exported import load_misses  # noqa: E402
from support.opinfo.pairs import Pair, all_pairs  # noqa: E402
from support.samples import sampled  # noqa: E402

MISSES = Path(__file__).with_name("misses.yaml")

pytestmark = pytest.mark.conformance


@functools.cache
def misses() -> dict[str, dict[str, str]]:
    """Reasons by the entry's name: `opinfo`, and for the official runtime `opinfo_official`."""
    return load_misses(MISSES)


PAIRS = [pair for pair in all_pairs() if pair.dtype_name == "float32"]


@pytest.mark.parametrize("pair", sampled(PAIRS, 3, name=lambda pair: pair.name))
def test_an_operator_runs_as_pytorch_computes_it(pair: Pair) -> None:
    reason = misses()["opinfo"].get(pair.name)
    official = misses()["opinfo_official"].get(pair.name)
    verdict = judge_pair(pair, 2 if reason or official else 1)
    if reason is not None:
        assert not verdict.passed, f"{pair.name} passes now: misses.yaml says {reason}"
        return
    assert verdict.passed, f"{verdict.verdict}: {verdict.reason}"
    if official is not None and verdict.on_official:
        assert verdict.official, f"{pair.name} is right on the official runtime: misses.yaml says {official}"
    elif verdict.on_official:
        assert not verdict.official, f"on the official runtime: {verdict.official}"


def test_only_entries_are_named() -> None:
    assert (misses()["opinfo"].keys() | misses()["opinfo_official"].keys()) <= {pair.name for pair in PAIRS}

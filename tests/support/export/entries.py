# SPDX-License-Identifier: BSD-3-Clause
"""Verdicts over the entries of the exporter's tables: pairs of OpInfo, classes of torch.nn."""

from __future__ import annotations

from support.export.exported import TOLERANCE
from support.export.nn_modules import samples_of
from support.export.opinfo_modules import sample_modules
from support.export.verdicts import TOLERANCES, Verdict, judge_samples
from support.opinfo.pairs import Pair


def judge_pair(pair: Pair, count: int) -> Verdict:
    """The verdict over the first `count` samples of a pair."""
    tolerance = TOLERANCES.get(pair.dtype_name, TOLERANCE)
    return judge_samples(sample_modules(pair, count), tolerance=tolerance)


def judge_class(name: str, count: int) -> Verdict:
    """The verdict over up to `count` samples of a class of torch.nn."""
    return judge_samples(samples_of(name, count))

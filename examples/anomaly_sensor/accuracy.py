# SPDX-License-Identifier: BSD-3-Clause
"""Measures how well scores separate faults from the healthy machine, at speeds that training never heard."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import vibration

import rushlight

KINDS = (vibration.NORMAL, *vibration.FAULTS)
ALL = "all faults"


@dataclass(frozen=True)
class Accuracy:
    """Separation of one kind of window from the healthy machine.

    `auc` is the area under the ROC curve of the score, `auc_of_level` that of the largest RMS of an axis.
    `alarms` is the share of windows that score above 1, `scores` has the score of each window.
    """

    kind: str
    auc: float
    auc_of_level: float
    alarms: float
    scores: np.ndarray


def scores(program: rushlight.Program, windows: np.ndarray) -> np.ndarray:
    """The program's score of each window."""
    return np.concatenate([program.forward(each[None])[0] for each in windows])


def accuracy(program: rushlight.Program, count: int, seed: int) -> list[Accuracy]:
    """A row a kind, and one for all faults, from `count` windows of each kind."""
    windows = {kind: vibration.windows([kind] * count, seed + i, True) for i, kind in enumerate(KINDS)}
    by_kind = {kind: scores(program, each) for kind, each in windows.items()}
    levels = {kind: each.std(axis=1).max(axis=1) for kind, each in windows.items()}
    for each in (by_kind, levels):
        each[ALL] = np.concatenate([each[kind] for kind in vibration.FAULTS])
    return [
        Accuracy(
            kind,
            vibration.roc_auc(by_kind[vibration.NORMAL], by_kind[kind]),
            vibration.roc_auc(levels[vibration.NORMAL], levels[kind]),
            float((by_kind[kind] > 1).mean()),
            by_kind[kind],
        )
        for kind in by_kind
    ]

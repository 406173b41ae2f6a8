# SPDX-License-Identifier: BSD-3-Clause
"""Draws a window of each kind and the scores of all windows as one PNG."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import matplotlib
import numpy as np
import vibration

matplotlib.use("Agg")
from matplotlib import pyplot

_COLORS = ("#667080", "#2f6f9f", "#c4314b", "#d08a2e")


def draw(windows: Mapping[str, np.ndarray], scores: Mapping[str, np.ndarray], path: Path) -> None:
    """`windows` has one window of each kind, int16 [SAMPLES, AXES]; `scores` many scores of each."""
    figure = pyplot.figure(figsize=(10, 6))
    grid = figure.add_gridspec(len(windows), 2, width_ratios=[3, 4])
    time = np.arange(vibration.SAMPLES) / vibration.RATE
    axes = None
    for row, ((kind, window), color) in enumerate(zip(windows.items(), _COLORS, strict=True)):
        axes = figure.add_subplot(grid[row, 0], sharex=axes, sharey=axes)
        acceleration = window[:, 2] / vibration.COUNTS
        axes.plot(time, acceleration - acceleration.mean(), linewidth=0.6, color=color)
        axes.set_title(kind, fontsize=9, loc="left", pad=2)
        axes.set_ylabel("g", fontsize=8)
        axes.tick_params(labelsize=7, labelbottom=row + 1 == len(windows))
    if axes is not None:
        axes.set_xlabel("seconds, z axis", fontsize=8)
    histogram = figure.add_subplot(grid[:, 1])
    both = np.concatenate(list(scores.values()))
    edges = np.geomspace(both.min(), both.max(), 60)
    for (kind, of_kind), color in zip(scores.items(), _COLORS, strict=True):
        histogram.hist(of_kind, edges.tolist(), histtype="step", linewidth=1.4, color=color, label=kind)
    histogram.axvline(1, color="#1b1f24", linewidth=0.8, linestyle="--")
    histogram.set_xscale("log")
    histogram.set_xlabel("score (above 1: alarm)", fontsize=8)
    histogram.set_ylabel("windows", fontsize=8)
    histogram.tick_params(labelsize=7)
    histogram.legend(fontsize=8, frameon=False)
    figure.suptitle("Synthesized vibration at held-out speeds, and its scores")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    pyplot.close(figure)

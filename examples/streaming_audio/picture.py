# SPDX-License-Identifier: BSD-3-Clause
"""Draws the samples, their spectrogram, and the probability of speech beside the truth as one PNG."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot

_RATE, _FRAME = 16000, 160


def draw(samples: np.ndarray, truth: np.ndarray, probabilities: np.ndarray, path: Path) -> None:
    """Three rows above each other; spans of speech are shaded in the first and the last."""
    figure, (wave, spectrum, graph) = pyplot.subplots(
        3, 1, figsize=(11, 6), sharex=True, height_ratios=[1, 1.5, 1.2]
    )
    seconds = np.arange(len(samples)) / _RATE
    frames = (np.arange(len(truth)) + 1) * _FRAME / _RATE
    wave.plot(seconds, samples / 32768, linewidth=0.3, color="#1b1f24")
    wave.set_ylabel("input")
    spectrum.specgram(
        samples / 32768 + 1e-6, NFFT=256, Fs=_RATE, noverlap=96, cmap="magma", vmin=-130, vmax=-40
    )
    spectrum.set_ylabel("Hz")
    graph.plot(frames, probabilities, color="#2f6f9f", linewidth=1)
    graph.axhline(0.5, color="#888888", linewidth=0.5)
    graph.set_ylabel("probability")
    graph.set_xlabel("seconds")
    for each in (wave, graph):
        low, high = each.get_ylim()
        each.fill_between(
            frames, low, high, where=truth, color="#3ddc84", alpha=0.25, linewidth=0, label="speech"
        )
        each.set_ylim(low, high)
    graph.legend(loc="upper right")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    pyplot.close(figure)

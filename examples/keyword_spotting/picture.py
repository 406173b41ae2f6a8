# SPDX-License-Identifier: BSD-3-Clause
"""Draws each clip, its spectrogram and its scores as one PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot

_RATE = 8000


def draw(
    clips: Sequence[np.ndarray],
    facts: dict[str, Any],
    target: str,
    scores: Sequence[Sequence[float]],
    path: Path,
) -> None:
    """Three rows a clip: samples, spectrogram, and a bar for each class."""
    columns = 5
    rows = -(-len(clips) // columns)
    figure, axes = pyplot.subplots(
        3 * rows, columns, figsize=(2.4 * columns, 3.4 * rows), height_ratios=[1, 2, 2] * rows, squeeze=False
    )
    for each in axes.flat:
        each.set_axis_off()
    for i, (clip, label, voice, of_clip) in enumerate(
        zip(clips, facts["labels"], facts["voices"], scores, strict=True)
    ):
        wave, spectrum, bars = axes[3 * (i // columns) : 3 * (i // columns) + 3, i % columns]
        wave.plot(clip, linewidth=0.4, color="#1b1f24")
        wave.set_title(f"{label} ({voice})", fontsize=9)
        spectrum.specgram(
            clip / 32768 + 1e-6, NFFT=256, Fs=_RATE, noverlap=96, cmap="magma", vmin=-120, vmax=-30
        )
        guess = int(np.argmax(of_clip))
        is_right = facts["classes"][guess] == label
        colors = ["#9cc3de"] * len(of_clip)
        colors[guess] = "#2f6f9f" if is_right else "#c4314b"
        bars.bar(range(len(of_clip)), of_clip, color=colors)
        bars.set_ylim(0, 1)
        bars.set_axis_on()
        bars.set_yticks([])
        bars.set_xticks(range(len(of_clip)), facts["classes"], rotation=90, fontsize=7)
    figure.suptitle(f"Held-out voices: samples, spectrogram and scores on {target} (red: wrong class)")
    figure.tight_layout(h_pad=0.2)
    figure.savefig(path, dpi=100)
    pyplot.close(figure)

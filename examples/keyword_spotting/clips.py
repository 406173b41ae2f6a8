# SPDX-License-Identifier: BSD-3-Clause
"""Clips of one second from recordings: placed, pitched, echoed, and mixed with noise at random."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from speech import CLASSES, RATE, Recording, resampled

SILENCE = CLASSES.index("silence")


def noise(chance: np.random.Generator) -> np.ndarray:
    """A second of noise whose power falls by 0 to 6 dB an octave, sometimes with mains hum; RMS 1."""
    spectrum = np.fft.rfft(chance.standard_normal(RATE))
    spectrum /= np.maximum(np.arange(len(spectrum)), 20) ** chance.uniform(0, 1)
    sound = np.fft.irfft(spectrum, RATE)
    sound /= np.sqrt(np.mean(sound**2))
    if chance.random() < 0.3:
        time = np.arange(RATE) / RATE
        sound += chance.uniform(0.3, 2) * np.sin(2 * np.pi * chance.choice([50, 60, 100, 120]) * time)
    return sound / np.sqrt(np.mean(sound**2))


def echoed(sound: np.ndarray, chance: np.random.Generator) -> np.ndarray:
    """Adds reverberation: the impulse response is noise that decays in 20 to 150 ms."""
    length = RATE // 4
    decay = np.exp(-np.arange(length) / (RATE * chance.uniform(0.02, 0.15)))
    response = chance.standard_normal(length) * decay * chance.uniform(0.02, 0.2)
    response[0] = 1
    size = len(sound) + length
    return np.fft.irfft(np.fft.rfft(sound, size) * np.fft.rfft(response, size), size)


def clip(sound: np.ndarray | None, chance: np.random.Generator, vary: bool = True) -> np.ndarray:
    """int16 [RATE]: the sound somewhere in a second of noise, 10 to 40 dB above it. None: noise alone.

    Without `vary` the sound keeps its pitch and has no echo.
    """
    mixed = np.zeros(RATE)
    if sound is not None:
        sound = sound / np.sqrt(np.mean(sound**2))
        if vary:
            sound = resampled(sound, round(len(sound) * chance.uniform(0.7, 1.25)))
            sound = echoed(sound, chance) if chance.random() < 0.5 else sound
        sound = sound[:RATE]
        start = chance.integers(0, RATE - len(sound) + 1)
        mixed[start : start + len(sound)] = sound
    mixed += noise(chance) * 10 ** -(chance.uniform(10, 40) / 20)
    peak = 10 ** chance.uniform(-1.5, -0.02) if sound is not None else 10 ** chance.uniform(-3, -1)
    return np.round(mixed / np.abs(mixed).max() * peak * 32767).astype(np.int16)


def batch(
    recordings: Sequence[Recording], chance: np.random.Generator, vary: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Clips [n, RATE] and labels [n] of all recordings, and of silence as many as of a keyword."""
    silent = len(recordings) // (len(CLASSES) + 1)
    clips = [clip(recording.sound, chance, vary) for recording in recordings]
    clips += [clip(None, chance) for _ in range(silent)]
    labels = [recording.label for recording in recordings] + [SILENCE] * silent
    return np.stack(clips), np.array(labels)

# SPDX-License-Identifier: BSD-3-Clause
"""Synthesizes speech-like sounds, noise, and mixtures of both, from a seed and numpy alone.

An utterance is a sequence of syllables: an optional consonant (a fricative or a stop), then a vowel. A vowel
is a sum of harmonics under three formants that glide from one vowel's to another's (source and filter, Fant,
1960; formants after Peterson and Barney, 1952). Nobody can understand it, but it has the pitch, formants and
rhythm of speech.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RATE = 16000
FRAME = 160
HEARD, UNHEARD = ("white", "pink", "brown", "hum", "beeps", "knocks"), ("engine",)
"""Kinds of noise that training hears, and one that it never hears."""

_VOWELS = np.array(
    [
        (270, 2290, 3010),
        (390, 1990, 2550),
        (530, 1840, 2480),
        (660, 1720, 2410),
        (730, 1090, 2440),
        (570, 840, 2410),
        (440, 1020, 2240),
        (300, 870, 2240),
        (640, 1190, 2390),
        (490, 1350, 1690),
    ]
)
_STEP = 80
"""Samples between two points of pitch and formants; they are interpolated between."""


@dataclass(frozen=True)
class Clip:
    """Samples int16 [frames * FRAME], and for each frame whether an utterance covers most of it."""

    samples: np.ndarray
    speech: np.ndarray


def _ramped(sound: np.ndarray, attack: int, release: int) -> np.ndarray:
    """The sound with raised-cosine edges."""
    shaped = sound.copy()
    attack, release = min(attack, len(sound) // 2), min(release, len(sound) // 2)
    shaped[:attack] *= 0.5 - 0.5 * np.cos(np.pi * np.arange(attack) / attack)
    shaped[len(sound) - release :] *= 0.5 + 0.5 * np.cos(np.pi * np.arange(release) / release)
    return np.asarray(shaped)


def _coloured(count: int, slope: float, random: np.random.Generator) -> np.ndarray:
    """Noise whose power falls by frequency ** -slope, with a deviation of 1."""
    hertz = np.fft.rfftfreq(count, 1 / RATE)
    spectrum = np.fft.rfft(random.standard_normal(count)) * np.maximum(hertz, 20) ** (-slope / 2)
    sound = np.fft.irfft(spectrum, count)
    return np.asarray(sound / sound.std())


def _band(count: int, low: float, high: float, random: np.random.Generator) -> np.ndarray:
    """Noise between two frequencies, with a deviation of 1."""
    hertz = np.fft.rfftfreq(count, 1 / RATE)
    sound = np.fft.irfft(
        np.fft.rfft(random.standard_normal(count)) * ((hertz >= low) & (hertz <= high)), count
    )
    return np.asarray(sound / (sound.std() + 1e-9))


def _vowel(count: int, pitch: np.ndarray, tract: float, random: np.random.Generator) -> np.ndarray:
    """A voiced sound: `pitch` has its first and its last frequency, `tract` scales the formants."""
    points = count // _STEP + 2
    along = np.linspace(0, 1, points)[:, None]
    first, last = _VOWELS[random.integers(len(_VOWELS), size=2)] * tract
    formants = first + (last - first) * along
    hertz = pitch[0] + (pitch[1] - pitch[0]) * along[:, 0]
    hertz = hertz * (1 + 0.01 * random.standard_normal(points))
    orders = np.arange(1, int(5500 / hertz.min()) + 1)
    partials = hertz[:, None] * orders
    gains = orders**-1.2  # the glottis: about -12 dB an octave, and the lips: +6 dB
    for formant, width in zip(formants.T, (70, 100, 140), strict=True):
        ratio = partials / formant[:, None]
        gains = gains / np.sqrt((1 - ratio**2) ** 2 + (ratio * width / formant[:, None]) ** 2)
    at, grid = np.arange(count) / _STEP, np.arange(points)
    phase = 2 * np.pi * np.cumsum(np.interp(at, grid, hertz)) / RATE
    sound = sum(
        np.interp(at, grid, gain) * np.sin(order * phase) for order, gain in zip(orders, gains.T, strict=True)
    )
    return np.asarray(sound / np.std(sound) + 0.03 * random.standard_normal(count))


def _consonant(random: np.random.Generator) -> np.ndarray:
    """A fricative, a stop with its burst, or nothing."""
    kind = random.random()
    if kind < 0.4:
        low = random.uniform(1500, 4500)
        count = int(random.uniform(0.04, 0.12) * RATE)
        return _ramped(random.uniform(0.1, 0.5) * _band(count, low, low + 3000, random), 300, 300)
    if kind < 0.75:
        burst = _ramped(random.uniform(0.2, 0.6) * _band(240, 500, 5000, random), 10, 200)
        return np.concatenate([np.zeros(int(random.uniform(0.02, 0.05) * RATE)), burst])
    return np.zeros(0)


def utterance(random: np.random.Generator, held_out: bool) -> np.ndarray:
    """One to seven syllables of one voice, with a peak of 1. Held-out voices have pitches of 140 to 170 Hz,
    which no voice of training has."""
    if held_out:
        pitch, tract = random.uniform(140, 170), random.uniform(1.0, 1.12)
    elif random.random() < 0.5:
        pitch, tract = random.uniform(80, 140), random.uniform(0.92, 1.05)
    else:
        pitch, tract = random.uniform(170, 280), random.uniform(1.08, 1.25)
    parts = []
    for _ in range(random.integers(1, 8)):
        parts.append(_consonant(random))
        count = int(random.uniform(0.08, 0.28) * RATE)
        glide = pitch * random.uniform(0.85, 1.2, size=2)
        loud = random.uniform(0.4, 1.0)
        parts.append(_ramped(loud * _vowel(count, glide, tract, random), 400, 800))
        pitch *= random.uniform(0.95, 1.02)
    sound = np.concatenate(parts)
    sound = np.trim_zeros(sound)
    return np.asarray(sound / np.abs(sound).max())


def noise(kind: str, count: int, random: np.random.Generator) -> np.ndarray:
    """Sounds that are not speech, with a deviation of 1."""
    if kind in ("white", "pink", "brown"):
        sound = _coloured(count, {"white": 0, "pink": 1, "brown": 2}[kind], random)
        swell = 1 + 0.5 * np.sin(
            2 * np.pi * (random.uniform(0.05, 1) * np.arange(count) / RATE + random.random())
        )
        return np.asarray(sound * swell / np.std(sound * swell))
    sound = 0.3 * _coloured(count, 1, random)
    time = np.arange(count) / RATE
    if kind in ("hum", "engine"):  # a hum is a steady pitch, an engine's wanders
        base = random.uniform(48, 62) if kind == "hum" else random.uniform(70, 110)
        wander = 0 if kind == "hum" else 0.1 * np.sin(2 * np.pi * 0.4 * time + random.uniform(0, 6))
        phase = 2 * np.pi * np.cumsum(base * (1 + wander) + np.zeros(count)) / RATE
        for order in range(1, 12):
            sound += random.uniform(0.2, 1) / order * np.sin(order * phase + random.uniform(0, 6))
    else:
        for start in np.cumsum(random.uniform(0.2, 1.2, size=40)):
            size = int((random.uniform(0.05, 0.4) if kind == "beeps" else random.uniform(0.01, 0.06)) * RATE)
            begin = int(start * RATE)
            if begin + size > count:
                break
            if kind == "beeps":
                event = np.sin(2 * np.pi * random.uniform(300, 3000) * time[:size])
            else:
                event = (
                    3
                    * _band(size, 100, random.uniform(800, 6000), random)
                    * np.exp(-np.arange(size) / size * 5)
                )
            sound[begin : begin + size] += random.uniform(0.7, 2) * _ramped(event, 20, 80)
    return np.asarray(sound / np.std(sound))


def clip(seconds: float, decibels: float, kind: str, seed: Sequence[int], held_out: bool = False) -> Clip:
    """Utterances and pauses in noise that is `decibels` weaker than the speech, at a random level."""
    random = np.random.default_rng(seed)
    frames = round(seconds * RATE / FRAME)
    count = frames * FRAME
    speech, active = np.zeros(count), np.zeros(count)
    begin = int(random.uniform(0.2, 1.2) * RATE)
    while True:
        said = utterance(random, held_out)
        if begin + len(said) > count:
            break
        speech[begin : begin + len(said)] = said * random.uniform(0.6, 1)
        active[begin : begin + len(said)] = 1
        begin += len(said) + int(random.uniform(0.3, 1.5) * RATE)
    level = np.sqrt((speech**2).sum() / active.sum()) if active.any() else 0.15
    mixed = speech + level * 10 ** (-decibels / 20) * noise(kind, count, random)
    peak = 32767 * 10 ** (-random.uniform(1, 20) / 20)
    samples = np.clip(np.rint(mixed / np.abs(mixed).max() * peak), -32768, 32767).astype(np.int16)
    return Clip(samples, active.reshape(frames, FRAME).mean(axis=1) > 0.5)

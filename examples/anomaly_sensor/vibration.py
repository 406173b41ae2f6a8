# SPDX-License-Identifier: BSD-3-Clause
"""Synthesizes what a 3-axis accelerometer on a rotating machine measures, healthy or with a fault.

A healthy machine has harmonics of its shaft, the passing of seven blades, hum of the mains, and broadband
noise that two resonances of its structure filter; speed and load change all of them. Faults follow Randall,
"Vibration-based Condition Monitoring" (2011): an imbalance raises the tone of the shaft, a damaged bearing
gives impacts that excite the resonances, looseness gives half orders and many harmonics.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

RATE, SAMPLES, AXES = 1600, 512, 3
COUNTS = 256
"""Counts of one g: an ADXL345 in full resolution."""
NORMAL, FAULTS = "normal", ("imbalance", "bearing", "looseness")
SLOWEST, FASTEST = 20.0, 60.0
HELD_OUT = ((28.0, 31.0), (39.0, 42.0), (51.0, 54.0))
"""Speeds of the shaft in Hz that training never hears."""

_RESONANCES = ((310.0, 0.05), (620.0, 0.04))  # Hz, damping
_TIME = np.arange(SAMPLES) / RATE
_RADIAL = np.array([1.0, 0.9, 0.25])  # the share of an imbalance's force in each axis; z is axial
_DIRECTION = np.array([0.5, 0.8, 1.0])


def speed(random: np.random.Generator, held_out: bool) -> float:
    """A speed of the shaft in Hz."""
    while True:
        drawn = float(random.uniform(SLOWEST, FASTEST))
        if any(low <= drawn <= high for low, high in HELD_OUT) == held_out:
            return drawn


def _tone(random: np.random.Generator, hertz: float, sizes: np.ndarray) -> np.ndarray:
    """[SAMPLES, AXES] of one frequency; each axis has its phase."""
    phases = random.uniform(0, 2 * np.pi, AXES)
    return sizes * np.sin(2 * np.pi * hertz * _TIME[:, None] + phases)


def _structure(force: np.ndarray) -> np.ndarray:
    """Force [n, AXES] filtered by the resonances of the structure."""
    hertz = np.fft.rfftfreq(len(force), 1 / RATE)
    gain = np.full(len(hertz), 0.3, complex)
    for resonance, damping in _RESONANCES:
        ratio = hertz / resonance
        gain += 0.25 / (1 - ratio**2 + 2j * damping * ratio)
    return np.fft.irfft(np.fft.rfft(force, axis=0) * gain[:, None], len(force), axis=0)


def _impacts(random: np.random.Generator, hertz: float) -> np.ndarray:
    """[SAMPLES, AXES]: the response of the structure to impacts whose period varies by one percent."""
    period = RATE / hertz
    at, force = random.uniform(0, period), np.zeros((2 * SAMPLES, AXES))
    while at < len(force):
        force[int(at)] = random.uniform(0.7, 1.3) * _DIRECTION
        at += period * random.normal(1, 0.01)
    return _structure(force)[SAMPLES:]


def window(random: np.random.Generator, shaft: float, kind: str = NORMAL) -> np.ndarray:
    """Counts of one window, int16 [SAMPLES, AXES], with a random load, phase, and severity of the fault."""
    load = random.uniform(0.2, 1.0)
    shaft *= random.normal(1, 0.002)
    imbalance = 0.05 * (shaft / 40) ** 2 * random.lognormal(0, 0.12)
    if kind == "imbalance":
        imbalance *= random.uniform(1.3, 2.5)
    total = _tone(random, shaft, imbalance * _RADIAL)
    for order, size in ((2, 0.020), (3, 0.010), (7, 0.025)):
        sizes = size * (0.5 + load) * random.lognormal(0, 0.15, AXES) * _DIRECTION
        total += _tone(random, order * shaft, sizes)
    total += _tone(random, 100.0, 0.008 * load * _DIRECTION)
    noise = random.standard_normal((2 * SAMPLES, AXES))
    total += 0.012 * (0.6 + 0.6 * load) * _structure(noise)[SAMPLES:]
    if kind == "bearing":
        total += random.uniform(0.02, 0.08) * _impacts(random, 3.57 * shaft)
    if kind == "looseness":
        size = random.uniform(0.002, 0.010)
        for half in (1, 3, 4, 5, 6, 8, 10, 12):
            total += _tone(random, half / 2 * shaft, size * random.lognormal(0, 0.3) * _DIRECTION)
    total += random.normal([0, 0, 1], 0.02)  # gravity, and the tilt of the sensor
    total += 0.004 * random.standard_normal(total.shape)  # the sensor's own noise
    return np.clip(np.round(COUNTS * total), -32768, 32767).astype(np.int16)


def windows(kinds: Sequence[str], seed: int, held_out: bool) -> np.ndarray:
    """int16 [len(kinds), SAMPLES, AXES], each at another speed."""
    random = np.random.default_rng(seed)
    return np.stack([window(random, speed(random, held_out), kind) for kind in kinds])


def roc_auc(healthy: np.ndarray, faulty: np.ndarray) -> float:
    """The probability that a faulty window scores higher than a healthy one: the area under the ROC curve, by
    ranks (Hanley and McNeil, 1982)."""
    both = np.concatenate([healthy, faulty])
    _, inverse, counts = np.unique(both, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    n, m = len(healthy), len(faulty)
    return float((ranks[n:].sum() - m * (m + 1) / 2) / (n * m))

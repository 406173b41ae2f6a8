# SPDX-License-Identifier: BSD-3-Clause
"""Synthesizes the words that the keyword spotter learns, with espeak-ng and flite.

Both are Debian packages: `apt-get install espeak-ng flite`. A voice is a command line; a recording is
int16 at 8 kHz. The voices of HELD_OUT never speak during training: six of espeak-ng's variants, and two
voices of flite that were made from recordings of people (rms, slt).
"""

from __future__ import annotations

import random
import shutil
import subprocess
import tempfile
import wave
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

RATE = 8000
KEYWORDS = ("yes", "no", "up", "down", "left", "right", "stop", "go")
CLASSES = (*KEYWORDS, "other", "silence")
_OTHER = """
bed bird cat dog happy house marvin sheila tree wow zero one two three four five six seven eight
nine learn follow forward backward visual water music window table paper number people before little
sister open button kitchen garden yellow purple orange morning evening coffee doctor engine finger
hello
"""
OTHER = _OTHER.split()
OTHER_HELD_OUT = [
    "light",
    "summer",
    "river",
    "market",
    "planet",
    "never",
    "eleven",
    "brother",
    "silver",
    "mountain",
    "okay",
    "cancel",
]
"""Words of the class "other" that training does not hear."""

ACCENTS = ("en", "en-us", "en-gb-scotland", "en-gb-x-gbclan", "en-gb-x-rp", "en-gb-x-gbcwmd", "en-us-nyc")
_VARIANTS = """
adam Alex Alicia Andrea Andy Annie antonio aunty belinda benjamin boris caleb david Denis Diogo ed
edward Gene Henrique Hugo Jacky Lee linda marcelo Marco Mario max Michael michel miguel mike Nguyen
pablo paul pedro quincy rob robert sandro shelby steph travis victor Zac anika f1 f2 f3 f4 klatt
klatt2 klatt3 m1 m2 m3 m4 m5 m6
"""
VARIANTS = _VARIANTS.split()
VARIANTS_HELD_OUT = ["f5", "m7", "m8", "klatt4", "Storm", "norbert"]


@dataclass(frozen=True)
class Speaker:
    """A voice of one of the two programs. `group` is what results are listed by."""

    program: str
    voice: str
    group: str


def speakers(held_out: bool) -> list[Speaker]:
    """The training voices, or the held-out voices."""
    variants = VARIANTS_HELD_OUT if held_out else VARIANTS
    flite = ("rms", "slt") if held_out else ("awb", "kal16")
    spoken = [
        Speaker("espeak-ng", f"{accent}+{variant}", "espeak-ng") for variant in variants for accent in ACCENTS
    ]
    return spoken + [Speaker("flite", voice, f"flite {voice}") for voice in flite]


def missing() -> list[str]:
    """The programs that are not installed."""
    return [name for name in ("espeak-ng", "flite") if shutil.which(name) is None]


def command(speaker: Speaker, word: str, output: Path, chance: random.Random) -> list[str]:
    """A command that speaks the word with a random speed, by espeak-ng with a random pitch, too."""
    if speaker.program == "espeak-ng":
        speed, pitch = chance.randint(120, 220), chance.randint(25, 75)
        return ["espeak-ng", "-v", speaker.voice, "-s", f"{speed}", "-p", f"{pitch}", "-w", str(output), word]
    stretch = f"duration_stretch={chance.uniform(0.8, 1.3):.2f}"
    return ["flite", "-voice", speaker.voice, "--setf", stretch, "-t", word, "-o", str(output)]


def resampled(sound: np.ndarray, length: int) -> np.ndarray:
    """The sound in `length` samples: its spectrum cut off or padded with zeros."""
    spectrum = np.fft.rfft(sound)
    kept = min(len(spectrum), length // 2 + 1)
    fitted = np.zeros(length // 2 + 1, complex)
    fitted[:kept] = spectrum[:kept]
    return np.fft.irfft(fitted, length) * (length / len(sound))


def trimmed(sound: np.ndarray) -> np.ndarray:
    """The sound without the silence around it: what is 40 dB below its peak."""
    loud = np.flatnonzero(np.abs(sound) > 0.01 * np.abs(sound).max())
    return sound[loud[0] : loud[-1] + 1]


def speak(speaker: Speaker, word: str, seed: int) -> np.ndarray:
    """One recording, float32 with a peak of 1, at most 0.9 s."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "word.wav"
        subprocess.run(command(speaker, word, path, random.Random(seed)), check=True, capture_output=True)
        with wave.open(str(path)) as file:
            rate = file.getframerate()
            sound = np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(np.float64)
    sound = trimmed(resampled(sound, round(len(sound) * RATE / rate)))[: RATE * 9 // 10]
    return (sound / np.abs(sound).max()).astype(np.float32)


@dataclass(frozen=True)
class Recording:
    """A spoken word, its class and its speaker."""

    sound: np.ndarray
    label: int
    speaker: Speaker


def _plan(held_out: bool, count: int, chance: random.Random) -> Iterator[tuple[Speaker, str, int]]:
    others = OTHER_HELD_OUT if held_out else OTHER
    spoken = speakers(held_out)
    people = [speaker for speaker in spoken if speaker.program == "flite"]
    for label in range(len(KEYWORDS) + 1):
        for i in range(count * (1 if label < len(KEYWORDS) else 3)):
            word = KEYWORDS[label] if label < len(KEYWORDS) else chance.choice(others)
            yield chance.choice(people if i % 2 else spoken), word, label


def recordings(held_out: bool, count: int, seed: int = 0) -> list[Recording]:
    """`count` recordings of each keyword and three times as many of other words. Half are flite's."""
    plan: Sequence[tuple[Speaker, str, int]] = list(_plan(held_out, count, random.Random(seed)))

    def make(i: int) -> Recording:
        speaker, word, label = plan[i]
        return Recording(speak(speaker, word, seed + i), label, speaker)

    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(make, range(len(plan))))

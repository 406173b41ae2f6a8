# SPDX-License-Identifier: BSD-3-Clause
"""Finds speech in ten seconds of held-out audio frame by frame, in Python, in C++ and on a board.

Compares the probabilities with PyTorch's, which computes the whole signal at once.

Prints a table, and writes held_out.wav, results.json and results.png. Exit status 0 only if all agree.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
import wave
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import sounds
import torch
from model import FRAME, RATE, load
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

import rushlight
from rushlight.errors import RushlightError
from rushlight.run.api import run
from rushlight.run.cases import load_case

try:
    from picture import draw
except ImportError:  # without matplotlib there is no picture
    draw = None  # type: ignore[assignment]

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from cmake_project import ROOT, build  # noqa: E402
from cmake_project import run as run_command  # noqa: E402

MODEL, CASE, WEIGHTS = HERE / "detector.pte", HERE / "case.json", HERE / "weights.npz"
TARGETS = ["host", "cortex-m55"]
TOLERANCE = 1e-3
"""Largest difference of a probability from PyTorch's."""


@dataclass(frozen=True)
class Measurement:
    """One program's results. `right` is the share of frames, None where the truth is unknown; `microseconds`
    or `instructions` count for one frame."""

    name: str
    frames: int
    difference: float
    passed: bool
    right: float | None = None
    microseconds: float | None = None
    instructions: int | None = None

    @property
    def real_time_factor(self) -> float | None:
        """Time that a frame takes, as a share of its length."""
        return None if self.microseconds is None else self.microseconds / (1e6 * FRAME / RATE)


def offline(samples: np.ndarray) -> np.ndarray:
    """The probability of each frame by PyTorch, which sees the whole signal."""
    with torch.no_grad():
        probabilities: np.ndarray = load(WEIGHTS)(torch.from_numpy(samples[None]))[0].numpy()
    return probabilities


def stream(samples: np.ndarray) -> tuple[np.ndarray, float]:
    """The probability of each frame by the program, one frame a call, and the microseconds of a frame."""
    program = rushlight.load(MODEL)  # with silence in its buffers; each call changes them
    probabilities = np.empty(len(samples) // FRAME, np.float32)
    began = time.perf_counter()
    for i, frame in enumerate(samples.reshape(-1, 1, FRAME)):
        (probability,) = program.forward(frame)
        probabilities[i] = np.asarray(probability).item()
    return probabilities, (time.perf_counter() - began) * 1e6 / len(probabilities)


def save_wav(samples: np.ndarray, path: Path) -> None:
    """Writes a WAV file of one channel."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.astype("<i2").tobytes())


def in_cpp(audio: Path, folder: Path) -> np.ndarray:
    """The probability of each frame by the C++ program, which this builds. Ends the script if that fails."""
    build(HERE, folder, RUSHLIGHT_FOLDER=ROOT)
    run_command([folder / "detect", MODEL, audio, folder / "cpp.txt"])
    return np.loadtxt(folder / "cpp.txt", dtype=np.float32, ndmin=1)


def compared(
    name: str, got: np.ndarray, expected: np.ndarray, truth: np.ndarray, microseconds: float | None = None
) -> Measurement:
    """The measurement of probabilities of the whole signal."""
    if len(got) != len(expected):
        return Measurement(name, len(got), float("nan"), passed=False)
    difference = float(np.abs(got - expected).max())
    right = float(((got > 0.5) == truth).mean())
    return Measurement(name, len(got), difference, difference < TOLERANCE, right, microseconds)


def on_target(target: str, folder: Path) -> Measurement:
    """The case in this folder on one target: consecutive frames, which PyTorch computed at once. Errors:
    rushlight's own."""
    outcome = run(MODEL, load_case(CASE), target=target, build_folder=folder / target)
    results = [call.result for call in outcome.calls]
    instructions = round(statistics.median(each.instructions for each in results))
    microseconds = None if instructions else statistics.median(each.ns for each in results) / 1000
    return Measurement(
        target,
        len(results),
        outcome.max_error or 0.0,
        outcome.passed,
        microseconds=microseconds,
        instructions=instructions or None,
    )


def table(measurements: Sequence[Measurement]) -> Table:
    """One row a program, within 80 columns."""
    shown = Table(title="Voice activity, 10 ms a frame, float32", box=SIMPLE, pad_edge=False)
    shown.add_column("program", no_wrap=True)
    for heading in ("frames", "difference", "right", "a frame", "real time"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for m in measurements:
        cost = ""
        if m.instructions or m.microseconds:
            cost = f"{m.instructions:,} instr." if m.instructions else f"{m.microseconds:,.0f} µs"
        factor = m.real_time_factor
        shown.add_row(
            m.name,
            f"{m.frames:,}",
            f"{m.difference:.0e}" if m.passed else f"[red]{m.difference:.0e}[/]",
            "" if m.right is None else f"{m.right:.1%}",
            cost,
            "" if factor is None else f"{factor:.4f}",
        )
    shown.caption = (
        "difference: largest from PyTorch's probabilities of the whole signal\n"
        "real time: a frame's time as a share of its 10 ms"
    )
    return shown


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "targets", nargs="*", default=TARGETS, metavar="TARGET", help="see `rushlight targets`"
    )
    parser.add_argument(
        "-o", "--output", type=Path, default=ROOT / "build" / "streaming_audio", help="folder"
    )
    options = parser.parse_args()
    folder: Path = options.output
    folder.mkdir(parents=True, exist_ok=True)
    audio = sounds.clip(10.0, 10, "pink", (4, 0), held_out=True)
    save_wav(audio.samples, folder / "held_out.wav")
    expected = offline(audio.samples)
    measurements = [compared("PyTorch", expected, expected, audio.speech)]
    try:
        streamed, microseconds = stream(audio.samples)
        measurements.append(compared("Python", streamed, expected, audio.speech, microseconds))
        for target in options.targets:
            if target == "host":
                probabilities = in_cpp(folder / "held_out.wav", folder)
                measurements.append(compared("C++", probabilities, expected, audio.speech))
            else:
                measurements.append(on_target(target, folder))
    except RushlightError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    Console().print(table(measurements))
    (folder / "results.json").write_text(json.dumps([asdict(m) for m in measurements]) + "\n")
    if draw is None:
        print("no results.png: pip install matplotlib", file=sys.stderr)
    else:
        draw(audio.samples, audio.speech, streamed, folder / "results.png")
    return 0 if all(m.passed for m in measurements) else 1


if __name__ == "__main__":
    sys.exit(main())

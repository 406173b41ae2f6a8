# SPDX-License-Identifier: BSD-3-Clause
"""Trains the detector on synthesized audio; writes detector.pte, weights.npz, case.json and tensors.npz here.

    python examples/streaming_audio/train.py          # under two minutes on one core

Prints the accuracy on held-out audio. Needs the extra `export` (torch).
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import sounds
import torch
from model import FRAME, Detector, Streaming, save
from torch import nn

import rushlight
from rushlight.run.cases import Call, Case, save_case

HERE = Path(__file__).parent
TOLERANCE = 1e-3
"""Largest difference of a probability from PyTorch's."""
CASE_FRAMES = 60


def training_clips(count: int, seconds: float = 4.0) -> tuple[torch.Tensor, torch.Tensor]:
    """Samples [count, samples] and truth float32 [count, frames]; each clip has its own noise and level."""
    random = np.random.default_rng(0)
    made = [
        sounds.clip(seconds, random.uniform(-3, 30), sounds.HEARD[i % len(sounds.HEARD)], (1, i))
        for i in range(count)
    ]
    samples = torch.from_numpy(np.stack([each.samples for each in made]))
    return samples, torch.from_numpy(np.stack([each.speech for each in made])).float()


def fit(count: int, epochs: int, size: int = 16) -> Detector:
    """A detector trained on `count` clips."""
    torch.manual_seed(0)
    began = time.monotonic()
    samples, truth = training_clips(count)
    model = Detector()
    with torch.no_grad():
        features = torch.cat([model.offline_features(part) for part in samples.split(32)])
    print(f"{count} clips, {time.monotonic() - began:.0f} s", flush=True)
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=1e-2)
    batches = -(-count // size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=epochs * batches)
    for epoch in range(epochs):
        total = 0.0
        for chosen in torch.randperm(count).split(size):
            # A change of level is the same step for all features, unless the logarithm's floor is near.
            level = torch.randn(len(chosen), 1, 1) * 0.25
            loss = nn.functional.binary_cross_entropy_with_logits(
                model.logits(features[chosen] + level), truth[chosen]
            )
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += loss.item() / batches
        print(
            f"epoch {epoch + 1} of {epochs}: loss {total:.3f}, {time.monotonic() - began:.0f} s", flush=True
        )
    return model.eval()


def right_by_energy(clips: list[sounds.Clip]) -> float:
    """The share of frames that one threshold of the energy gets right: the best threshold for these clips."""
    energy = np.concatenate(
        [(each.samples.reshape(-1, FRAME).astype(float) ** 2).mean(axis=1) for each in clips]
    )
    truth = np.concatenate([each.speech for each in clips])[np.argsort(energy)]
    right_below = np.concatenate([[0], np.cumsum(~truth)])
    right_above = truth.sum() - np.concatenate([[0], np.cumsum(truth)])
    return float((right_below + right_above).max() / len(truth))


def accuracy(model: Detector, clips: list[sounds.Clip]) -> float:
    """The share of frames that the detector gets right at a threshold of 0.5."""
    with torch.no_grad():
        guesses = model(torch.from_numpy(np.stack([each.samples for each in clips]))) > 0.5
    return float((guesses.numpy() == np.stack([each.speech for each in clips])).mean())


def held_out(kind: str, decibels: float, count: int = 10) -> list[sounds.Clip]:
    """Clips of 10 s with voices that training never hears."""
    return [sounds.clip(10.0, decibels, kind, (2, i), held_out=True) for i in range(count)]


def show(model: Detector) -> None:
    """The README's table of accuracy."""
    levels = (20, 10, 0)
    print("| noise | " + " | ".join(f"{each} dB" for each in levels) + " | best energy threshold, 10 dB |")
    print("|---|" + "---:|" * (len(levels) + 1))
    for kind in (*sounds.HEARD, *sounds.UNHEARD):
        shares = [accuracy(model, held_out(kind, each)) for each in levels]
        cells = [f"{share:.1%}" for share in (*shares, right_by_energy(held_out(kind, 10)))]
        print(f"| {kind} | " + " | ".join(cells) + " |", flush=True)


def write(model: Detector, folder: Path) -> None:
    """Writes the program, the weights, and a case: the frames around the first beginning of speech. The
    offline detector computes the expected probabilities, of the whole signal at once."""
    save(model, folder / "weights.npz")
    # torch.export warns of nn.GRU's list of its weights, which are parameters.
    warnings.filterwarnings("ignore", "The tensor attributes .*_flat_weights")
    exported = rushlight.export(
        Streaming(model), (torch.zeros(1, FRAME, dtype=torch.int16),), target="cortex-m55"
    )
    exported.save(folder / "detector.pte")
    audio = sounds.clip(6.0, 10, "pink", (3, 0), held_out=True)
    first = max(0, int(audio.speech.argmax()) - CASE_FRAMES // 2)
    frames = audio.samples.reshape(-1, 1, FRAME)[first : first + CASE_FRAMES]
    with torch.no_grad():
        expected = model(torch.from_numpy(frames.reshape(1, -1))).numpy().reshape(-1, 1, 1)
    calls = [Call("forward", [frame], [out]) for frame, out in zip(frames, expected, strict=True)]
    save_case(
        folder / "case.json",
        Case("streaming_audio", TOLERANCE, calls),
        expected_from="PyTorch, all frames at once",
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, default=HERE, help="folder to write [default: this one]")
    parser.add_argument("--clips", type=int, default=480, help="clips of 4 s [default: 480]")
    parser.add_argument("--epochs", type=int, default=16, help="[default: 16]")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.output.mkdir(parents=True, exist_ok=True)
    model = fit(options.clips, options.epochs)
    write(model, options.output)
    show(model)


if __name__ == "__main__":
    main()

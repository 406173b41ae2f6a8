# SPDX-License-Identifier: BSD-3-Clause
"""Trains the keyword spotter on synthesized words and writes keywords.pte, case.json and tensors.npz here.

    apt-get install espeak-ng flite
    python examples/keyword_spotting/train.py          # some 5 minutes on one core

Needs the extra `export` (torch, torchao).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import clips
import numpy as np
import speech
import torch
from model import Spotter
from torch import nn

import rushlight
from rushlight.quantize import RushlightQuantizer, Static
from rushlight.run.cases import Call, Case, save_case

HERE = Path(__file__).parent
TOLERANCE = 0.1
"""Largest difference of a probability from PyTorch's. Features may round the other way, by a step of int8."""


@dataclass(frozen=True)
class Sounds:
    """Clips int16 [n, SAMPLES] and labels int64 [n]; `groups` says whose voice each is."""

    clips: torch.Tensor
    labels: torch.Tensor
    groups: Sequence[str]


def sounds(recordings: Sequence[speech.Recording], seed: int, vary: bool) -> Sounds:
    """Clips of the recordings in noise, and clips of noise alone."""
    made, labels = clips.batch(recordings, np.random.default_rng(seed), vary)
    groups = [recording.speaker.group for recording in recordings]
    groups += ["noise"] * (len(labels) - len(groups))
    return Sounds(torch.from_numpy(made), torch.from_numpy(labels), groups)


def masked(features: torch.Tensor) -> torch.Tensor:
    """Features [n, 1, frames, bands] without a random band of frequencies and a random span of time each
    (SpecAugment, Park et al., 2019)."""
    keep = torch.ones_like(features)
    for dim, widest in ((3, 7), (2, 9)):
        size = features.shape[dim]
        start = torch.randint(size, (len(features), 1))
        width = torch.randint(widest, (len(features), 1))
        at = torch.arange(size)
        inside = (at >= start) & (at < start + width)
        keep = keep * ~inside[:, None, None, :] if dim == 3 else keep * ~inside[:, None, :, None]
    return features * keep


def fit(recordings: Sequence[speech.Recording], epochs: int, passes: int = 6, size: int = 64) -> Spotter:
    """A network trained on the recordings, each placed in noise in `passes` different ways."""
    torch.manual_seed(0)
    model = Spotter(len(speech.CLASSES))
    heard = [sounds(recordings, seed, vary=True) for seed in range(passes)]
    with torch.no_grad():
        features = [torch.cat([model.front(part) for part in each.clips.split(256)]) for each in heard]
    print(f"{passes} passes of {len(features[0])} clips", flush=True)
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=1e-2)
    batches = -(-len(features[0]) // size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, total_steps=epochs * batches)
    start = time.monotonic()
    for epoch in range(epochs):
        inputs, labels, total = features[epoch % passes], heard[epoch % passes].labels, 0.0
        for chosen in torch.randperm(len(labels)).split(size):
            logits = model.network(masked(inputs[chosen]))
            loss = nn.functional.cross_entropy(logits, labels[chosen], label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item() / batches
        print(
            f"epoch {epoch + 1} of {epochs}: loss {total:.3f}, {time.monotonic() - start:.0f} s", flush=True
        )
    return model.eval()


def quantized(model: Spotter, heard: torch.Tensor, front: Static | None = None) -> torch.fx.GraphModule:
    """The model in int8, calibrated on clips. The front end stays in float32 unless it is given a scheme."""
    quantizer = RushlightQuantizer(Static(), by_module_name={"front": front})
    graph: torch.fx.GraphModule = rushlight.quantize(
        model, (heard[:1],), [(each[None],) for each in heard], quantizer
    )
    return graph


def spotted(program: rushlight.Program, heard: Sounds) -> dict[str, tuple[int, int]]:
    """For each group of voices how many clips got their class, and how many there are."""
    counts: dict[str, tuple[int, int]] = {}
    for clip, label, group in zip(heard.clips.numpy(), heard.labels.tolist(), heard.groups, strict=True):
        (scores,) = program.forward(clip[None])
        right, all_ = counts.get(group, (0, 0))
        counts[group] = right + int(np.argmax(scores) == label), all_ + 1
    return counts


def show(name: str, counts: dict[str, tuple[int, int]]) -> str:
    """One row of the README's table."""
    right, all_ = (sum(each) for each in zip(*counts.values(), strict=True))
    return " | ".join(
        [name, *(f"{r / n:.1%}" for _, (r, n) in sorted(counts.items())), f"{right / all_:.1%}"]
    )


def examples(heard: Sounds) -> list[int]:
    """The index of one clip of each class; the groups of voices take turns."""
    groups = sorted(set(heard.groups) - {"noise"})
    wanted = [(label, groups[label % len(groups)]) for label in range(len(speech.KEYWORDS) + 1)]
    found = list(zip(heard.labels.tolist(), heard.groups, strict=True))
    return [found.index(each) for each in [*wanted, (clips.SILENCE, "noise")]]


def case_of(graph: torch.nn.Module, heard: torch.Tensor) -> Case:
    """A case of a call for each clip, with the outputs of a graph in PyTorch."""
    with torch.no_grad():
        calls = [Call("forward", [clip[None].numpy()], [graph(clip[None]).numpy()]) for clip in heard]
    return Case("keyword_spotting", TOLERANCE, calls)


def write(graph: torch.nn.Module, held_out: Sounds, folder: Path) -> rushlight.Program:
    """Writes the program and its case; returns the program."""
    exported = rushlight.export(graph, (held_out.clips[:1],), target="cortex-m4")
    exported.save(folder / "keywords.pte")
    chosen = examples(held_out)
    save_case(
        folder / "case.json",
        case_of(graph, held_out.clips[chosen]),
        expected_from="the quantized graph in PyTorch",
        classes=speech.CLASSES,
        labels=[speech.CLASSES[label] for label in held_out.labels[chosen].tolist()],
        voices=[held_out.groups[i] for i in chosen],
    )
    return rushlight.load(folder / "keywords.pte")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, default=HERE, help="folder to write [default: this one]")
    parser.add_argument("--words", type=int, default=300, help="recordings of each keyword [default: 300]")
    parser.add_argument("--epochs", type=int, default=30, help="[default: 30]")
    options = parser.parse_args()
    if lacking := speech.missing():
        raise SystemExit(f"error: {', '.join(lacking)} not found: apt-get install espeak-ng flite")
    torch.set_num_threads(1)
    recordings = speech.recordings(held_out=False, count=options.words)
    model = fit(recordings, options.epochs)
    calibration = sounds(recordings[:: max(1, len(recordings) // 150)], 1000, vary=True).clips
    held_out = sounds(speech.recordings(held_out=True, count=60, seed=10**6), 1001, vary=False)
    program = write(quantized(model, calibration), held_out, options.output)
    print(" | ".join(["held-out clips right", *sorted(set(held_out.groups)), "all"]))
    print(show("int8, front end in float32", spotted(program, held_out)))
    for name, front in (("int16", Static(activations="int16")), ("int8", Static())):
        exported = rushlight.export(quantized(model, calibration, front), (calibration[:1],))
        print(show(f"int8, front end in {name}", spotted(rushlight.load(exported.buffer), held_out)))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: BSD-3-Clause
"""Trains the detector on a synthesized healthy machine; writes the program and its case here.

    python examples/anomaly_sensor/train.py          # a minute at most, on one core

Needs the extra `export` (torch, torchao).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch
import vibration
from accuracy import KINDS, Accuracy, accuracy
from model import Detector

import rushlight
from rushlight.quantize import RushlightQuantizer, Static
from rushlight.run.cases import Call, Case, save_case

HERE = Path(__file__).parent
FALSE_ALARMS = 0.01
"""The share of the healthy windows of training that score above 1."""
TOLERANCE = 0.02
"""Largest relative difference of a score: features may round the other way, by a step of int8."""


def fit(healthy: torch.Tensor, epochs: int, size: int = 128) -> Detector:
    """A detector trained on windows of the healthy machine, int16 [n, SAMPLES, AXES]."""
    torch.manual_seed(0)
    model = Detector()
    with torch.no_grad():
        model.front.standardize(healthy)
        features = model.front(healthy)
    optimizer = torch.optim.AdamW(model.coder.parameters(), weight_decay=1e-3)
    batches = -(-len(features) // size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, total_steps=epochs * batches)
    start = time.monotonic()
    for epoch in range(epochs):
        total = 0.0
        for chosen in torch.randperm(len(features)).split(size):
            loss = torch.nn.functional.mse_loss(model.coder(features[chosen]), features[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item() / batches
        if (epoch + 1) % 10 == 0 or epoch + 1 == epochs:
            seconds = time.monotonic() - start
            print(f"epoch {epoch + 1} of {epochs}: loss {total:.3f}, {seconds:.0f} s", flush=True)
    with torch.no_grad():
        model.set_limit(healthy, FALSE_ALARMS)
    return model.eval()


def quantized(model: Detector, healthy: torch.Tensor) -> torch.fx.GraphModule:
    """The model with its autoencoder in int8, calibrated on 200 windows. The rest stays in float32."""
    graph: torch.fx.GraphModule = rushlight.quantize(
        model,
        (healthy[:1],),
        [(each[None],) for each in healthy[:200]],
        RushlightQuantizer(None, by_module_name={"coder": Static()}),
    )
    return graph


def case_of(graph: torch.nn.Module, windows: np.ndarray) -> Case:
    """A case of a call for each window, with the outputs of a graph in PyTorch."""
    inputs = torch.from_numpy(windows)
    with torch.no_grad():
        calls = [Call("forward", [each[None].numpy()], [graph(each[None]).numpy()]) for each in inputs]
    return Case("anomaly_sensor", TOLERANCE, calls)


def write(graph: torch.nn.Module, folder: Path, count: int, each: int = 3) -> list[Accuracy]:
    """Writes the program and its case, `each` windows of every kind. Returns the accuracy on `count`."""
    model = folder / "anomaly_sensor.pte"
    kinds = [kind for kind in KINDS for _ in range(each)]
    windows = vibration.windows(kinds, 10**6, True)
    rushlight.export(graph, (torch.from_numpy(windows[:1]),), target="cortex-m4").save(model)
    rows = accuracy(rushlight.load(model), count, 2 * 10**6)
    save_case(
        folder / "case.json",
        case_of(graph, windows),
        expected_from="the quantized graph in PyTorch",
        labels=kinds,
        auc=round(rows[-1].auc, 4),
    )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, default=HERE, help="folder to write [default: this one]")
    parser.add_argument("--windows", type=int, default=10000, help="healthy windows [default: 10000]")
    parser.add_argument("--epochs", type=int, default=60, help="[default: 60]")
    parser.add_argument("--tested", type=int, default=2000, help="windows of each kind [default: 2000]")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.output.mkdir(parents=True, exist_ok=True)
    healthy = torch.from_numpy(vibration.windows([vibration.NORMAL] * options.windows, 0, False))
    rows = write(quantized(fit(healthy, options.epochs), healthy), options.output, options.tested)
    title = f"{options.tested:,} windows of each kind"
    print(f"| {title} | ROC AUC | ROC AUC of the RMS level | score above 1 |\n|---|---:|---:|---:|")
    for row in rows:
        of_fault = "|" if row.kind == vibration.NORMAL else f"{row.auc:.3f} | {row.auc_of_level:.3f}"
        print(f"| {row.kind} | {of_fault} | {row.alarms:.1%} |")


if __name__ == "__main__":
    main()

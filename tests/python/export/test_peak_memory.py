# SPDX-License-Identifier: BSD-3-Clause
"""Exporting and saving a large model takes little memory beside the model: weights are not copied, and what
is computed of them is there once."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed")

from rushlight import process

MARGIN = 12_000_000  # graphs, programs and allocators, whatever the weights

# A separate process, in which a tiny model was exported before: imports on first use do not count.
CHILD = """
import gc, sys, warnings
from pathlib import Path
import torch
from torch import nn
import rushlight.export

def resident(what):
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(what)]
    return int(line.split()[1]) * 1024

def linears(count, width):
    return nn.Sequential(*[nn.Linear(width, width) for _ in range(count)]), torch.randn(1, width)

def convolutions(count, width):
    layers = [layer for _ in range(count) for layer in (nn.Conv2d(width, width, 3), nn.BatchNorm2d(width))]
    return nn.Sequential(*layers), torch.randn(1, width, 2 * count + 1, 2 * count + 1)

warnings.simplefilter("ignore")
make, path = globals()[sys.argv[1]], sys.argv[2]
module, x = make(1, 8)
rushlight.export(module.eval(), (x,)).save(path)
module, x = make(*map(int, sys.argv[3:]))
gc.collect()
before = resident("VmRSS:")
Path("/proc/self/clear_refs").write_text("5")
rushlight.export(module.eval(), (x,)).save(path)
print(sum(t.nbytes for t in module.state_dict().values()), resident("VmHWM:") - before)
"""


def peak(path: Path, *words: object) -> tuple[int, int]:
    """Bytes of a model's weights, and what exporting and saving it took beside the model."""
    command = [sys.executable, "-c", CHILD, words[0], str(path), *map(str, words[1:])]
    weights, more = process.run(command, check=True, timeout=300).stdout.split()[-2:]
    return int(weights), int(more)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc/self/clear_refs is Linux's")
def test_weights_that_stay_as_they_are_are_not_copied(tmp_path: Path) -> None:
    weights, more = peak(tmp_path / "model.pte", "linears", 12, 1024)
    assert weights > 4 * MARGIN and more < MARGIN
    assert (tmp_path / "model.pte").stat().st_size > weights


@pytest.mark.skipif(sys.platform != "linux", reason="/proc/self/clear_refs is Linux's")
def test_weights_that_batch_norms_are_folded_into_are_there_once_more(tmp_path: Path) -> None:
    weights, more = peak(tmp_path / "model.pte", "convolutions", 6, 512)
    assert weights > 4 * MARGIN and more < weights + MARGIN

# SPDX-License-Identifier: BSD-3-Clause
"""Measures the memory that exporting and saving a large model takes, without the model itself.

    python benchmarks/export/peak.py {official|rushlight} MODEL    # JSON: bytes

Each measurement is a separate process, since freed memory is not always returned to the system. A tiny
model is exported first, so that modules that are loaded on first use do not count.
"""

from __future__ import annotations

import gc
import json
import sys
import tempfile
from pathlib import Path

import torch
from sides import exporter, forget_peak, quiet, resident, save
from subjects import LARGE, make


def weight_bytes(module: torch.nn.Module) -> int:
    """Bytes of parameters and buffers."""
    return sum(tensor.nbytes for tensor in module.state_dict().values())


def main(side: str, name: str) -> int:
    quiet()
    export = exporter(side)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pte"
        tiny = torch.nn.Sequential(
            torch.nn.Conv2d(2, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.Linear(6, 4)
        ).eval()
        save(side, export(tiny, (torch.randn(1, 2, 8, 8),)), path)
        module, args = make(LARGE[name])
        gc.collect()
        before = resident("VmRSS")
        forget_peak()
        save(side, export(module, args), path)
        peak = resident("VmHWM")
        found = {"weights": weight_bytes(module), "more": peak - before, "file": path.stat().st_size}
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

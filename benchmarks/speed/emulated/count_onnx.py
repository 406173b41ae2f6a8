# SPDX-License-Identifier: BSD-3-Clause
"""Counts one inference of ONNX Runtime between two marks for benchmarks/ukernel/count_plugin.cpp, after an
empty pair of marks. Runs in the emulated Python, which has numpy and onnxruntime only.

    python count_onnx.py MODEL INPUTS.npz OUTPUTS.npz
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))

from contestants import OnnxRuntime, read_arrays

WARM_UPS = 2
GETPID = 172  # the number of the system call on 64-bit Arm
MARK = 0x726C6D6B  # see benchmarks/ukernel/count_plugin.cpp
SYSCALL = ctypes.CDLL(None).syscall
SYSCALL.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_long)


def mark(edge: int) -> None:
    """A system call that the plugin knows by its first argument; 1 begins, 2 ends."""
    SYSCALL(GETPID, MARK, edge)


def main(model: str, inputs: str, outputs: str) -> int:
    contestant = OnnxRuntime.of(Path(model), threads=1, spins=False)
    adapted = contestant.adapted(read_arrays(Path(inputs)))
    mark(1)
    mark(2)
    for _ in range(WARM_UPS):
        contestant.run(adapted)
    mark(1)
    done = contestant.run(adapted)
    mark(2)
    np.savez(outputs, *contestant.arrays(done))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

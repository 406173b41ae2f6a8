# SPDX-License-Identifier: BSD-3-Clause
"""Runs bad programs, one after another: fuzzing.py SOURCE SEED FIRST LAST.

SOURCE is a program to run mutants of, or the word `random`. Before each program its number is printed,
so that whoever started this knows which one ended it. An exception that is no rushlight error ends it
too. A program that takes two seconds of CPU is killed by SIGPROF.
"""

from __future__ import annotations

import contextlib
import os
import random
import resource
import signal
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

import rushlight
from rushlight.errors import RushlightError
from support import random_programs

SECONDS = 2.0
MEMORY = 4 << 30
WORDS = (0, 1, 2, 4, 8, 0x7F, 0xFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFC, 0xFFFFFFFF)


def mutate(data: bytes, choose: random.Random) -> bytes:
    """`data` with one to six bytes or words changed, sometimes cut short."""
    mutant = bytearray(data)
    structure = len(data)
    if data[8:12] == b"eh00":  # mostly where the structure is; weights are only numbers
        structure = struct.unpack_from("<Q", data, 16)[0]
    for _ in range(choose.randint(1, 6)):
        at = choose.randrange(structure if choose.random() < 0.95 else len(data) - 3)
        word = min(at & ~3, len(data) - 4)
        kind = choose.choice(("byte", "byte", "step", "word", "copy"))
        if kind == "byte":
            mutant[at] = choose.choice((0, 1, 2, 3, 127, 128, 255, choose.randrange(256)))
        elif kind == "step":
            mutant[at] = (mutant[at] + choose.choice((-2, -1, 1, 2))) & 0xFF
        elif kind == "word":
            struct.pack_into("<I", mutant, word, choose.choice(WORDS))
        else:
            other = choose.randrange(structure - 3) & ~3
            mutant[word : word + 4] = mutant[other : other + 4]
    size = choose.randrange(len(data)) if choose.random() < 0.02 else len(data)
    return bytes(mutant[:size])


def run(data: bytes) -> None:
    """Loads every method and runs it twice, on inputs of ones and of threes."""
    program = rushlight.load(data)
    for name in program.method_names:
        with contextlib.suppress(RushlightError):
            method = program.load_method(name)
            for number in (1, 3):
                inputs = [
                    np.full(info.shape, number, info.dtype) if info.shape is not None else number
                    for info in method.inputs
                    if info.dtype is None or not info.dtype.startswith("dtype")
                ]
                with contextlib.suppress(RushlightError):
                    method.execute(inputs)


def make(source: str, choose: random.Random) -> bytes:
    """A program from a source."""
    return random_programs.write(choose) if source == "random" else mutate(Path(source).read_bytes(), choose)


def main(source: str, seed: str, first: str, last: str) -> None:
    if "asan" not in os.environ.get("LD_PRELOAD", ""):  # which reserves terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for number in range(int(first), int(last)):
        print(number, flush=True)
        data = make(source, random.Random(f"{seed} {number}"))
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        with contextlib.suppress(RushlightError, MemoryError):
            run(data)
        signal.setitimer(signal.ITIMER_PROF, 0)
    print("end", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

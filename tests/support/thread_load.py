# SPDX-License-Identifier: BSD-3-Clause
"""Eight Python threads execute real programs at once: shared and separate programs, calls, executions in the
background, cancellations and timeouts. Every result must equal that of one thread alone, bit by bit.

    python tests/support/thread_load.py 180     # seconds
"""

from __future__ import annotations

import random
import sys
import threading
import time
from collections import Counter
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import rushlight
from rushlight.errors import DeadlineExceeded
from rushlight.runtime import Method, Program

INTEROP = Path(__file__).parents[1] / "interop"
MODELS = ("model_mlp", "model_resnet8", "model_dscnn_int8", "gru", "dynamic_mlp")
THREADS = 8
SETS = 4


@dataclass
class Model:
    """A program that all threads share, and the outputs of one thread for several sets of inputs."""

    path: Path
    shared: Program
    method: Method
    inputs: list[list[np.ndarray[Any, Any]]]
    expected: list[list[np.ndarray[Any, Any]]]

    @classmethod
    def load(cls, name: str) -> Model:
        path = INTEROP / name / "model.pte"
        alone = rushlight.load(path, threads=1).method("forward")
        generator = np.random.default_rng(7)
        inputs = [
            [generator.standard_normal(info.shape).astype(info.dtype) for info in alone.inputs]
            for _ in range(SETS)
        ]
        shared = rushlight.load(path, threads=2)
        expected = [alone.execute(given) for given in inputs]
        return cls(path, shared, shared.method("forward"), inputs, expected)


def _executed(method: Method, given: list[Any], how: str, choose: random.Random) -> list[Any] | None:
    """The outputs; None if the execution was stopped."""
    if how == "call":
        return method.execute(given)
    timeout = choose.choice([0.0001, 0.002]) if how == "timeout" else None
    future = method.execute_async(given, timeout=timeout)
    if how == "cancel":
        time.sleep(choose.choice([0, 0.0002, 0.002]))
        future.cancel()
    try:
        return future.result(60)
    except (CancelledError, DeadlineExceeded):
        return None


def _work(models: list[Model], seed: int, end: float, counts: Counter[str]) -> None:
    choose = random.Random(seed)
    own = [rushlight.load(model.path, threads=choose.choice([1, 2, 3])).method("forward") for model in models]
    instances = [model.shared.load_method("forward") for model in models]
    while time.monotonic() < end:
        number, given = choose.randrange(len(models)), choose.randrange(SETS)
        model = models[number]
        kinds = {"shared method": model.method, "shared program": instances[number], "own": own[number]}
        kind = choose.choice(list(kinds))
        how = choose.choice(["call", "call", "future", "future", "cancel", "timeout"])
        outputs = _executed(kinds[kind], model.inputs[given], how, choose)
        if outputs is None:
            counts[f"{how} (stopped)"] += 1
            continue
        for got, expected in zip(outputs, model.expected[given], strict=True):
            if not np.array_equal(got, expected, equal_nan=True):
                raise AssertionError(f"{model.path}: {kind}, {how}: outputs differ from those of one thread")
        counts[how] += 1


def run(seconds: float) -> Counter[str]:
    """The number of executions of each kind. Raises the first failure."""
    models = [Model.load(name) for name in MODELS]
    end = time.monotonic() + seconds
    counts = [Counter[str]() for _ in range(THREADS)]
    failures: list[BaseException] = []

    def guarded(seed: int) -> None:
        try:
            _work(models, seed, end, counts[seed])
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(seed,)) for seed in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return sum(counts, Counter[str]())


if __name__ == "__main__":
    print(dict(run(float(sys.argv[1]))))

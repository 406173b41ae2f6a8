# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch's OpInfo database as pairs of an operator and a dtype, and the outcome of each pair."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import torch

from support.harness import Kernels
from support.opinfo.matching import Rows
from support.opinfo.replay import Replay


@dataclass(frozen=True)
class Pair:
    """An entry of the database with one dtype."""

    info: Any
    dtype: torch.dtype

    @property
    def name(self) -> str:
        """The entry as the database spells it: "softmax/with_dtype"."""
        variant = self.info.variant_test_name
        return f"{self.info.name}/{variant}" if variant else str(self.info.name)

    @property
    def dtype_name(self) -> str:
        """Such as "float32"."""
        return str(self.dtype).removeprefix("torch.")

    def __str__(self) -> str:
        return f"{self.name}-{self.dtype_name}"


@dataclass
class Outcome:
    """The outcome of a pair.

    Attributes:
        samples: number of inputs in the database that PyTorch itself accepts.
        passed: number of samples with every call of every kernel right.
        calls: calls of operators of the table, and `compared` of them were made on the kernel too.
        kernels: for each compared operator and dtype, the numbers of samples and of right samples.
        decomposed: called operators that were decomposed into other operators.
        missing: called operators that the table lacks and that do not decompose.
        failures: one line for each call that a kernel refused or got wrong.
    """

    samples: int = 0
    passed: int = 0
    calls: int = 0
    compared: int = 0
    kernels: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    decomposed: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    failures: list[str] = field(default_factory=list)

    def add(self, mode: Replay) -> None:
        """Adds the results of one sample."""
        self.samples += 1
        self.calls += mode.made
        self.compared += mode.compared
        self.passed += not mode.failed and not mode.missing
        for key in mode.replayed:
            called, right = self.kernels.get(key, (0, 0))
            self.kernels[key] = (called + 1, right + (key not in mode.failed))
        self.decomposed |= mode.decomposed
        self.missing |= mode.missing
        self.failures += mode.failures


@functools.cache
def all_pairs() -> list[Pair]:
    """Every entry with every dtype that PyTorch supports on the CPU, in the database's order. 8-bit floats
    are left out: no kernel exists for them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    # The jiterator compiles for GPUs; programs have no sparse layouts.
    left_out = ("jiterator", "sparse.", "to_sparse")
    infos = [info for info in op_db if not info.name.startswith(left_out)]
    pairs = [Pair(info, dtype) for info in infos for dtype in sorted(info.supported_dtypes("cpu"), key=str)]
    return [pair for pair in pairs if not pair.dtype_name.startswith("float8")]


def replay(pair: Pair, kernels: Kernels, rows: Rows, alike: int | None = None) -> Outcome:
    """Runs all samples of a pair, on PyTorch and on the kernels. Among calls with the same dtypes, shapes and
    scalars only the first `alike` run on the kernels; None: all."""
    torch.default_generator.manual_seed(0)
    outcome = Outcome()
    judged: Counter[str] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in samples(pair):
            mode = Replay(kernels, rows, decompositions(), judged, alike)
            try:
                with mode:
                    pair.info(sample.input, *sample.args, **sample.kwargs)
            except Exception as error:
                if not _is_taken(pair, sample):
                    continue
                mode.failures.append(f"a decomposition fails: {' '.join(str(error).split())}")
                mode.failed.add(("", pair.dtype_name))
            outcome.add(mode)
    return outcome


def _is_taken(pair: Pair, sample: Any) -> bool:
    """True if PyTorch alone accepts a sample."""
    try:
        pair.info(sample.input, *sample.args, **sample.kwargs)
    except Exception:
        return False
    return True


def samples(pair: Pair) -> Iterator[Any]:
    """The database's inputs for a pair; none if they cannot be created in its dtype."""
    try:
        with without_stacks():
            drawn = pair.info.sample_inputs("cpu", pair.dtype)
        while True:
            with without_stacks():
                sample = next(drawn)
            yield sample
    except (StopIteration, RuntimeError, NotImplementedError, TypeError):
        return


@contextlib.contextmanager
def without_stacks() -> Iterator[None]:
    """Keeps the database from reading the Python stack: for the name of a test, from which it derives seeds,
    and for each input, since PyTorch remembers who seeds missing devices. Within pytest that takes nine
    tenths of a sample's time.
    """
    from torch.testing._internal import common_utils
    from torch.testing._internal.opinfo import core

    with (
        mock.patch.object(common_utils, "extract_test_fn", lambda: None),
        mock.patch.object(core, "extract_test_fn", lambda: None),
        mock.patch.object(torch, "manual_seed", torch.default_generator.manual_seed),
    ):
        yield


@functools.cache
def decompositions() -> dict[Any, Any]:
    """The decompositions that an exporter applies, by overload."""
    return dict(torch._decomp.core_aten_decompositions())

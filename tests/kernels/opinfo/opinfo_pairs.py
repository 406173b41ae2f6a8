# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch's OpInfo database as pairs of an operator and a dtype, and what becomes of each here."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from harness import Kernels
from matching import Rows
from replay import Replay


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
    """What became of a pair.

    Attributes:
        samples: how many inputs the database has that PyTorch itself takes.
        kernels: what they called, of the table.
        missing: what they called that the table lacks and that does not decompose.
        failures: one line for each call that a kernel refused or got wrong.
    """

    samples: int = 0
    kernels: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    failures: list[str] = field(default_factory=list)


@functools.cache
def all_pairs() -> list[Pair]:
    """Every entry with every dtype that PyTorch supports on the CPU, in the database's order."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    # The jiterator compiles for GPUs; the sparse layouts have no place in a program.
    left_out = ("jiterator", "sparse.", "to_sparse")
    infos = [info for info in op_db if not info.name.startswith(left_out)]
    return [Pair(info, dtype) for info in infos for dtype in sorted(info.supported_dtypes("cpu"), key=str)]


def replay(pair: Pair, kernels: Kernels, rows: Rows) -> Outcome:
    """Runs all samples of a pair, on PyTorch and on the kernels."""
    torch.manual_seed(0)
    mode = Replay(kernels, rows, _decompositions())
    outcome = Outcome(kernels=mode.replayed, missing=mode.missing, failures=mode.failures)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in samples(pair):
            try:
                with mode:
                    pair.info(sample.input, *sample.args, **sample.kwargs)
            except (RuntimeError, ValueError, NotImplementedError, IndexError):
                continue  # PyTorch refuses it
            outcome.samples += 1
    return outcome


def samples(pair: Pair) -> Iterator[Any]:
    """The database's inputs for a pair; none where they cannot be made in its dtype."""
    try:
        yield from pair.info.sample_inputs("cpu", pair.dtype)
    except (RuntimeError, NotImplementedError, TypeError):
        return


@functools.cache
def _decompositions() -> dict[Any, Any]:
    return dict(torch._decomp.core_aten_decompositions())

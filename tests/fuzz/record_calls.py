# SPDX-License-Identifier: BSD-3-Clause
"""Writes calls.bin: some valid calls of every operator, for the fuzz target `calls`.

    python tests/fuzz/record_calls.py [TEST_FILE...]

Runs the tests of the kernels and keeps, of the calls that succeed, a few small ones for each operator that
differ as much as possible: in dtypes, ranks, absent arguments, words and flags. Operators that tests call
with large tensors only get a call of plain arguments. With names of test files it runs these alone and
adds operators that had no call.
"""

from __future__ import annotations

import functools
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rushlight.codegen.schema import Argument, Schema
from rushlight.codegen.table import load_table
from support.recorded_calls import CALLS, read, write

ROOT = Path(__file__).resolve().parents[2]
MOST_CALLS = 5  # for each operator
MOST_BYTES = 1500  # limit for a call, if its operator has one as small
MOST_BYTES_ALONE = 30_000
MOST_CANDIDATES = 400
_TENSOR, _NONE, _INT, _DOUBLE, _BOOL, _STRING, _LIST = 1, 0, 2, 3, 4, 5, 6


@dataclass
class Candidate:
    """An encoded call, and the features that other calls of its operator may lack."""

    name: str
    encoded: bytes
    features: set[tuple[Any, ...]] = field(default_factory=set)


def encode(arguments: Sequence[Any]) -> tuple[bytes, set[tuple[Any, ...]]]:
    """The arguments of a call as tests/fuzz/recorded_call.cpp reads them, and their features."""
    features: set[tuple[Any, ...]] = set()
    parts = [_argument(value, (path,), features) for path, value in enumerate(arguments)]
    return bytes([len(parts)]) + b"".join(parts), features


def _argument(value: Any, path: tuple[Any, ...], features: set[tuple[Any, ...]]) -> bytes:
    if value is None:
        features.add((*path, None))
        return bytes([_NONE])
    if hasattr(value, "dim_order"):
        return _tensor(value, path, features)
    if isinstance(value, bool):
        features.add((*path, value))
        return struct.pack("<B?", _BOOL, value)
    if isinstance(value, int):
        features.add((*path, (value > 0) - (value < 0)))
        return struct.pack("<Bq", _INT, value)
    if isinstance(value, float):
        features.add((*path, "double"))
        return struct.pack("<Bd", _DOUBLE, value)
    if isinstance(value, str):
        features.add((*path, value))
        return struct.pack("<BB", _STRING, len(value)) + value.encode()
    features.add((*path, "list", min(len(value), 4)))
    items = b"".join(_argument(item, (*path, "item"), features) for item in value)
    return struct.pack("<BB", _LIST, len(value)) + items


def _tensor(argument: Any, path: tuple[Any, ...], features: set[tuple[Any, ...]]) -> bytes:
    import torch

    tensor = argument.tensor
    sizes, order = argument.sizes, argument.dim_order
    features |= {(*path, "dtype", argument.dtype), (*path, "rank", len(sizes))}
    features.add((*path, "order", order == sorted(order)))
    data = tensor.permute(order).clone(memory_format=torch.contiguous_format).view(-1)
    raw = bytes(data.untyped_storage())[: data.numel() * data.element_size()]
    width = data.element_size()
    is_repeated = bool(raw) and raw == raw[:width] * data.numel()
    stored = raw[:width] if is_repeated else raw
    head = struct.pack("<BBBB", _TENSOR, argument.dtype, len(sizes), is_repeated)
    return head + struct.pack(f"<{len(sizes)}i", *sizes) + bytes(order) + struct.pack("<I", len(raw)) + stored


@dataclass
class _Argument:
    tensor: Any
    dtype: int
    sizes: list[int]
    dim_order: list[int]


class Recorder:
    """A plugin of pytest that watches `harness.Kernels.run`."""

    def __init__(self) -> None:
        self.found: dict[str, dict[bytes, Candidate]] = {}
        self.kernels: Any = None

    def pytest_sessionstart(self) -> None:
        """Installs itself before every call of a kernel."""
        from support.harness import Kernels

        setattr(Kernels, "run", self._watching(Kernels.run))  # noqa: B010

    def _watching(self, run: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(run)
        def watched(kernels: Any, name: str, arguments: Sequence[Any], **options: Any) -> Any:
            self.kernels = kernels
            encoded = self._encoded(kernels.signatures[name], arguments)
            result = run(kernels, name, arguments, **options)
            if encoded is not None:
                self._keep(Candidate(name, *encoded))
            return result

        return watched

    def _encoded(self, signature: str, arguments: Sequence[Any]) -> tuple[bytes, set[tuple[Any, ...]]] | None:
        import torch

        from support.harness import DTYPE_NUMBERS, dim_order, plain_argument

        def of_tensor(value: torch.Tensor) -> Any:
            if value.numel() * value.element_size() > MOST_BYTES_ALONE:
                raise OverflowError
            return _Argument(value, DTYPE_NUMBERS[value.dtype], list(value.shape), dim_order(value))

        lists = [value if isinstance(value, (list, tuple)) else [value] for value in arguments]
        items = [each for listed in lists for each in listed]
        starts = [each.data_ptr() for each in items if isinstance(each, torch.Tensor) and each.numel() > 0]
        if len(starts) != len(set(starts)):
            return None  # the file does not say which tensors share memory
        try:
            encoded, features = encode(
                [plain_argument(*pair, of_tensor) for pair in zip(signature, arguments, strict=True)]
            )
        except OverflowError:
            return None
        return encoded, features

    def pytest_sessionfinish(self) -> None:
        """Calls the operators without a recorded call."""
        from support.harness import KernelRefused

        operators = load_table(ROOT / "kernels" / "ops.yaml").operators
        known = {name for name, _ in read()} if CALLS.exists() else set()
        for name in operators.keys() - self.found.keys() - known:
            for rank in range(1, 6):
                try:
                    self.kernels.run(name, plain_arguments(operators[name].schema, rank))
                except (KernelRefused, AssertionError, TypeError):
                    continue

    def _keep(self, candidate: Candidate) -> None:
        kept = self.found.setdefault(candidate.name, {})
        larger = [each for each in kept if len(each) > max(MOST_BYTES, len(candidate.encoded))]
        if len(candidate.encoded) > MOST_BYTES and len(larger) < len(kept):
            return
        for each in larger:
            del kept[each]
        if len(kept) < MOST_CANDIDATES:
            kept.setdefault(candidate.encoded, candidate)


def plain_arguments(schema: Schema, rank: int) -> list[Any]:
    """Tensors of rank `rank` with size 4 in each dimension, and scalars that fit them."""
    import torch

    def plain(argument: Argument) -> Any:
        if argument.optional:
            return None
        if argument.base == "Tensor":
            return torch.tensor(4) if argument.name == "high" else torch.ones([4] * rank)
        numbers = {"float": 0.5, "Scalar": 2, "bool": False, "str": "none"}
        number = 1 if argument.name == "low" else numbers.get(argument.base, 4)
        count = rank - 1 if argument.name == "output_size" else rank
        return [number] * max(count, 1) if argument.is_list else number

    return [plain(argument) for argument in schema.arguments]


def choose(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Chooses a few calls that together have most features; between calls that add equally many, one of about
    300 bytes."""
    left = list(candidates)
    seen: set[tuple[Any, ...]] = set()
    chosen: list[Candidate] = []
    while left and len(chosen) < MOST_CALLS:
        best = max(left, key=lambda each: (len(each.features - seen), -abs(len(each.encoded) - 300)))
        if chosen and not best.features - seen:
            break
        chosen.append(best)
        seen |= best.features
        left.remove(best)
    return chosen


def main() -> int:
    """Records the calls, and prints the operators without any."""
    recorder = Recorder()
    files = sys.argv[1:] or [str(ROOT / "tests" / "kernels")]
    # These tests do not call kernels through the harness, or build for a long time.
    left_out = ("ukernel", "opinfo", "test_library.py")
    ignored = [f"--ignore={ROOT / 'tests' / 'kernels' / name}" for name in left_out]
    pytest.main([*files, *ignored, "-q", "-p", "no:cacheprovider", "-n", "0"], plugins=[recorder])
    calls = {name: choose(list(kept.values())) for name, kept in recorder.found.items()}
    old = read() if sys.argv[1:] and CALLS.exists() else []
    known = {name for name, _ in old}
    chosen = [each for name, few in calls.items() if name not in known for each in few]
    added = [(each.name, each.encoded) for each in chosen]
    write(sorted(old + added))
    print(f"{len(added)} calls added, {len(known | calls.keys())} operators, {CALLS.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())

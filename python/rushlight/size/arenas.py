# SPDX-License-Identifier: BSD-3-Clause
"""The memory that an application provides for each method, computed before linking."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rushlight.program import Method, Storage, TensorInfo, arena_bytes, method_memory, read_model


@dataclass(frozen=True)
class MethodArenas:
    """Sizes in bytes, exact for the target's pointers. `planned` lists the buffers by memory id, id 1 first;
    `temporary` is the maximum that kernels need, `temporary_peak` the peak of a run. `inputs` and
    `outputs` are the tensors whose memory the caller provides, at the upper bounds of their shapes."""

    model: str
    method: str
    method_arena: int
    planned: tuple[int, ...]
    temporary: int
    inputs: int
    outputs: int
    temporary_peak: int | None = None

    @property
    def total(self) -> int:
        """Bytes while the method is loaded, without inputs and outputs of the caller."""
        return self.method_arena + sum(self.planned) + self.temporary

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "total": self.total}


def method_arenas(models: Iterable[Path], bits: int) -> list[MethodArenas]:
    """The arenas of all methods of the programs (.pte or .bpte)."""
    found = []
    for path in models:
        for method in read_model(path).plans:
            memory = method_memory(method)
            found.append(
                MethodArenas(
                    model=path.name if path.stem != "model" else str(Path(path.parent.name, path.name)),
                    method=method.name,
                    method_arena=arena_bytes(method, bits),
                    planned=memory.planned,
                    temporary=memory.temporary,
                    inputs=_lent(method, method.inputs),
                    outputs=_lent(method, method.outputs),
                )
            )
    return found


def weight_bytes(models: Iterable[Path]) -> int:
    """Bytes of the programs' constant tensors in the files; each stored tensor counts once."""
    total = 0
    for path in models:
        program = read_model(path)
        stored = {
            tensor.buffer_index: tensor.nbytes
            for method in program.plans
            for tensor in (value.data for value in method.values)
            if isinstance(tensor, TensorInfo) and tensor.storage is Storage.CONSTANT
        }
        total += sum(stored.values())
    return total


def _lent(method: Method, indices: Sequence[int]) -> int:
    values = (method.values[index].data for index in dict.fromkeys(indices))
    return sum(v.nbytes for v in values if isinstance(v, TensorInfo) and v.storage is Storage.INPUT)

# SPDX-License-Identifier: BSD-3-Clause
"""The content of a program file before it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rushlight.errors import InvalidArgument
from rushlight.program.model import Method, Program, Storage, TensorInfo


@dataclass(frozen=True)
class ProgramParts:
    """Methods and their data. The data may be any objects with contiguous bytes.

    A CONSTANT tensor with `buffer_index` i has its data in `constants[i - 1]`, a MUTABLE one its initial
    data in `mutable[i - 1]`. Delegates contain their payloads. `named_data` is looked up by key at run
    time.
    """

    methods: tuple[Method, ...]
    constants: Sequence[Any] = ()
    mutable: Sequence[Any] = ()
    named_data: Mapping[str, Any] = field(default_factory=dict)


def parts_of(program: Program) -> ProgramParts:
    """The parts of a program, to modify and write again. Bytes are not copied.

    Errors: InvalidArgument for a program with several groups of mutable data.
    """
    if len(program.mutable_groups) > 1:
        raise InvalidArgument(
            f"program: expected one group of mutable data, got {len(program.mutable_groups)}"
        )
    return ProgramParts(
        methods=program.plans,
        constants=_data(program, Storage.CONSTANT),
        mutable=_data(program, Storage.MUTABLE),
        named_data={key: program.segment(index) for key, index in program.named_data},
    )


def _data(program: Program, storage: Storage) -> list[memoryview]:
    """The bytes of tensors of a storage kind by index, each as long as its largest tensor needs."""
    found: dict[int, memoryview] = {}
    for plan in program.plans:
        for value in plan.values:
            tensor = value.data
            if isinstance(tensor, TensorInfo) and tensor.storage is storage:
                data = program.constant(tensor)
                if len(data) >= len(found.get(tensor.buffer_index, b"")):
                    found[tensor.buffer_index] = data
    return [found.get(index, memoryview(b"")) for index in range(1, max(found, default=0) + 1)]

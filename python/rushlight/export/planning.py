# SPDX-License-Identifier: BSD-3-Clause
"""From a lowered method to requests for memory, and from the plan to places of storages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rushlight.export.emit import MemoryMap
from rushlight.export.graph import source_line
from rushlight.export.lower.instructions import LoweredMethod, TensorOperand, leaves
from rushlight.export.lower.lifetimes import Lifetime, lifetimes
from rushlight.export.memory import Bank, Plan, Request, plan, read_banks
from rushlight.export.options import Options


@dataclass(frozen=True)
class Planned:
    """A method's plan, and what it says of each storage."""

    plan: Plan
    memory_map: MemoryMap


def plan_memory(method: LoweredMethod, options: Options) -> Planned:
    """Places for all storages that are planned. Errors: OutOfMemory where they do not fit."""
    lives = lifetimes(method)
    lines = _source_lines(method)
    requests = [_request(index, life, lines) for index, life in enumerate(lives)]
    found = plan(requests, _banks(options.memory), options.planner)
    places = {
        id(life.storage): (placement.bank, placement.offset)
        for life, placement in zip(lives, found.placements, strict=True)
    }
    return Planned(found, MemoryMap(places, found.buffer_sizes))


def _banks(memory: Any) -> Sequence[Bank] | None:
    """The banks that a file, a mapping or a list of banks describes."""
    if memory is None or (isinstance(memory, (list, tuple)) and all(isinstance(b, Bank) for b in memory)):
        return memory
    return read_banks(memory)


def _request(index: int, life: Lifetime, lines: dict[int, str]) -> Request:
    storage = life.storage
    return Request(
        name=f"{storage.name}#{index}",
        nbytes=storage.nbytes,
        first=life.first,
        last=life.last,
        bank=storage.bank,
        uses=max(life.uses, 1),
        note=storage.note or lines.get(id(storage), ""),
    )


def _source_lines(method: LoweredMethod) -> dict[int, str]:
    """The line of the model that first writes each storage."""
    lines: dict[int, str] = {}
    for instruction in method.code:
        origin = getattr(instruction, "origin", None)
        if origin is None or origin.node is None:
            continue
        _, written = method.reads_and_writes(instruction)
        for leaf in leaves(written):
            if isinstance(leaf, TensorOperand) and id(leaf.storage) not in lines:
                lines[id(leaf.storage)] = str(source_line(origin.node) or "")
    return lines

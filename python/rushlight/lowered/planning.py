# SPDX-License-Identifier: BSD-3-Clause
"""Plans the memory of a lowered method: lifetimes to requests, the plan to offsets of storages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rushlight.lowered.emit import MemoryMap
from rushlight.lowered.instructions import LoweredMethod, TensorOperand, leaves
from rushlight.lowered.lifetimes import Lifetime, lifetimes
from rushlight.memory import Bank, Plan, Request, plan, verify


@dataclass(frozen=True)
class Planned:
    """A method's plan, and the offset of each storage."""

    plan: Plan
    memory_map: MemoryMap


def plan_memory(
    method: LoweredMethod,
    banks: Sequence[Bank] | None = None,
    planner: str = "auto",
    line_of: Callable[[Any], str] = str,
) -> Planned:
    """Plans all storages of a method. `line_of` returns the model's source line for the node of an origin,
    for reports.

    Errors: DoesNotFit; InvalidArgument for an unknown planner or unknown banks.
    """
    lives = lifetimes(method)
    lines = _source_lines(method, line_of)
    requests = [_request(index, life, lines) for index, life in enumerate(lives)]
    found = plan(requests, banks, planner)
    verify(found, requests)
    positions = {
        id(life.storage): (placement.bank, placement.offset)
        for life, placement in zip(lives, found.placements, strict=True)
    }
    return Planned(found, MemoryMap(positions, found.buffer_sizes))


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


def _source_lines(method: LoweredMethod, line_of: Callable[[Any], str]) -> dict[int, str]:
    """The source line that first writes each storage."""
    lines: dict[int, str] = {}
    for instruction in method.code:
        origin = getattr(instruction, "origin", None)
        if origin is None or origin.node is None:
            continue
        _, written = method.reads_and_writes(instruction)
        for leaf in leaves(written):
            if isinstance(leaf, TensorOperand) and id(leaf.storage) not in lines:
                lines[id(leaf.storage)] = line_of(origin.node)
    return lines

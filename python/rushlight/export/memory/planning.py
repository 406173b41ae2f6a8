# SPDX-License-Identifier: BSD-3-Clause
"""From a lowered method to requests for memory, and from the plan to places of storages."""

from __future__ import annotations

from dataclasses import dataclass

from rushlight.export.graph.nodes import source_line
from rushlight.export.lower.emit import MemoryMap
from rushlight.export.lower.instructions import LoweredMethod, TensorOperand, leaves
from rushlight.export.lower.lifetimes import Lifetime, lifetimes
from rushlight.export.memory import Plan, Request, plan, read_banks, verify
from rushlight.export.options import Options


@dataclass(frozen=True)
class Planned:
    """A method's plan, and what it says of each storage."""

    plan: Plan
    memory_map: MemoryMap


def plan_memory(method: LoweredMethod, options: Options) -> Planned:
    """Places for all storages that are planned.

    Errors: DoesNotFit; InvalidArgument for what the options say of banks and the planner.
    """
    lives = lifetimes(method)
    lines = _source_lines(method)
    requests = [_request(index, life, lines) for index, life in enumerate(lives)]
    banks = None if options.memory is None else read_banks(options.memory)
    found = plan(requests, banks, options.planner)
    verify(found, requests)
    places = {
        id(life.storage): (placement.bank, placement.offset)
        for life, placement in zip(lives, found.placements, strict=True)
    }
    return Planned(found, MemoryMap(places, found.buffer_sizes))


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

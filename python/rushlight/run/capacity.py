# SPDX-License-Identifier: BSD-3-Clause
"""Checks whether a program fits in a target's memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rushlight import targets
from rushlight.program import Method, arena_bytes
from rushlight.run.findings import Finding

MAX_PLANNED_BUFFERS = 16
"""The maximum number of planned buffers of a runner: MemoryOptions::kMaxPlannedBuffers."""

_REMEDY = "export for smaller shapes, or for a target with more memory"


def capacity_findings(methods: Sequence[Method], target: targets.Target, stored: int) -> Iterator[Finding]:
    """A finding for each memory that is too small; `stored` is the size in bytes of the program file and the
    data files linked in with it.

    Each method is checked alone. Code, stack and the runner's own data are not counted, so a program
    without findings may still fail to link.
    """
    for method in methods:
        if len(method.buffer_sizes) - 1 > MAX_PLANNED_BUFFERS:
            message = f"{len(method.buffer_sizes) - 1} planned buffers, the runner has {MAX_PLANNED_BUFFERS}"
            yield _finding(method.name, message, "plan the memory in fewer buffers")
        needed = _working(method, target)
        if target.pointer_bytes == 4 and needed + stored >= 1 << 32:
            message = f"{needed + stored:,} B are needed, {target.name} addresses {1 << 32:,}"
            yield _finding(method.name, message, _REMEDY)
        elif target.banks():
            yield from _in_banks(method.name, needed, stored, target)


def _working(method: Method, target: targets.Target) -> int:
    """Bytes of planned memory and of the method arena."""
    return sum(method.buffer_sizes[1:]) + arena_bytes(method, 8 * target.pointer_bytes)


def _in_banks(method: str, needed: int, stored: int, target: targets.Target) -> Iterator[Finding]:
    uses, sizes = target.banks(), target.bank_bytes()
    arena, model = uses["arena"], uses["model"]
    asked: dict[str, list[tuple[str, int]]] = {}
    asked.setdefault(model, []).append(("the model", stored))
    asked.setdefault(arena, []).append(("planned memory and method arena", needed))
    for bank, wanted in asked.items():
        total = sum(size for _, size in wanted)
        if total > sizes[bank]:
            told = " and ".join(f"{size:,} B for {what}" for what, size in wanted)
            short = f"{total - sizes[bank]:,} short"
            yield _finding(
                method, f"{told} in bank {bank} of {sizes[bank]:,} B of {target.board}: {short}", _REMEDY
            )


def _finding(method: str, message: str, remedy: str) -> Finding:
    return Finding(method, "memory", message, remedy)

# SPDX-License-Identifier: BSD-3-Clause
"""Verifies a plan: requests alive at the same time share no byte."""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Sequence

from rushlight.memory.requests import Placement, Plan, Request

_Event = tuple[int, bool, int, int, Request]


def verify(plan: Plan, requests: Sequence[Request]) -> None:
    """Checks that each request is in an allowed bank, aligned, inside the bank, and shares no byte with
    another request alive at the same time. O(n log n) plus the insertions into the sorted alive set.

    Errors: AssertionError naming the requests; it means a defect in a planner, not in the model.
    """
    assert tuple(requests) == plan.requests, "plan: made for other requests"
    sizes = {use.bank.id: use.size for use in plan.banks}
    events: dict[int, list[_Event]] = defaultdict(list)
    for request, placement in zip(plan.requests, plan.placements, strict=True):
        _verify_placement(request, placement, sizes)
        if request.nbytes:
            offset, end = placement.offset, placement.offset + request.nbytes
            events[placement.bank].append((request.first, True, offset, end, request))
            events[placement.bank].append((request.last + 1, False, offset, end, request))
    for use in plan.banks:
        assert use.bank.size is None or use.size <= use.bank.size, (
            f"bank '{use.bank.name}': expected at most {use.bank.size} bytes, got {use.size}"
        )
        _verify_disjoint(events[use.bank.id], f"bank '{use.bank.name}'")


def _verify_placement(request: Request, placement: Placement, sizes: dict[int, int]) -> None:
    bank, offset = placement.bank, placement.offset
    what = f"'{request.name}' at byte {offset} of bank {bank}"
    assert bank in sizes, f"{what}: expected one of the banks {sorted(sizes)}"
    assert request.bank in (None, bank), f"{what}: expected bank {request.bank}"
    assert offset >= 0 and offset % request.alignment == 0, (
        f"{what}: expected a multiple of {request.alignment}"
    )
    assert offset + request.nbytes <= sizes[bank], f"{what}: expected to end within {sizes[bank]} bytes"


def _verify_disjoint(events: list[_Event], what: str) -> None:
    """Sweeps over time with the alive requests sorted by offset, so that only neighbours are compared."""
    alive: list[tuple[int, int, str]] = []
    for _, begins, offset, end, request in sorted(events, key=lambda event: event[:2]):
        at = bisect.bisect_left(alive, (offset, end, request.name))
        if not begins:
            del alive[at]
            continue
        for neighbour in alive[max(at - 1, 0) : at + 1]:
            apart = neighbour[1] <= offset or end <= neighbour[0]
            assert apart, f"{what}: '{request.name}' and '{neighbour[2]}' share bytes"
        alive.insert(at, (offset, end, request.name))

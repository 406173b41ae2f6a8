# SPDX-License-Identifier: BSD-3-Clause
"""The memory planner: computes a plan from requests and banks."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from rushlight.errors import InvalidArgument
from rushlight.memory.exact import auto, exact
from rushlight.memory.greedy import greedy_by_size
from rushlight.memory.naive import naive
from rushlight.memory.problem import Problem
from rushlight.memory.requests import Bank, BankUse, Layout, Placement, Plan, Request
from rushlight.memory.shortage import shortage
from rushlight.memory.spread import DoesNotFit, Planner, Share, spread

PLANNERS: dict[str, Planner] = {
    "auto": auto,
    "greedy_by_size": greedy_by_size,
    "exact": exact,
    "naive": naive,
}


def plan(requests: Sequence[Request], banks: Sequence[Bank] | None = None, planner: str = "auto") -> Plan:
    """Plans all requests; the same requests always give the same plan.

    Args:
        requests: bytes with lifetimes, with unique names.
        banks: the memories to use, with unique ids. None means one unlimited bank with memory id 1, and one
            for each id that requests fix. With several banks, the fastest one with space left takes the
            most used requests.
        planner: a key of PLANNERS. "auto" is greedy with a short search, "exact" searches for seconds.

    Errors: DoesNotFit naming the tensors alive at the peak; InvalidArgument for an unknown planner and for
    requests of an unknown bank.

    Example:
        made = plan([Request("a", 64, 0, 1), Request("b", 32, 1, 2)])
        made.peak, made.by_name["b"].offset    # (96, 64)
    """
    begin = time.perf_counter()
    if planner not in PLANNERS:
        raise InvalidArgument(f"memory planner: expected one of {', '.join(PLANNERS)}, got '{planner}'")
    banks = _default_banks(requests) if banks is None else banks
    _check_banks(requests, banks)
    problem = Problem.of(requests)
    parts = _lay_out(requests, problem, banks, PLANNERS[planner])
    placements: list[Placement | None] = [None] * len(requests)
    for share, _ in parts:
        for index, offset in zip(share.indices, share.offsets, strict=True):
            placements[index] = Placement(share.bank.id, offset)
    uses = tuple(_use(problem, share, layout) for share, layout in parts)
    bound = _lower_bound(requests, problem, banks)
    peak = sum(use.size for use in uses)
    largest = max(parts, key=lambda part: part[1].size)[1]
    return Plan(
        requests=tuple(requests),
        placements=tuple(placement for placement in placements if placement is not None),
        banks=uses,
        lower_bound=bound,
        planner=largest.planner,
        seconds=time.perf_counter() - begin,
        optimal=peak == bound or (len(banks) == 1 and largest.optimal),
    )


def _default_banks(requests: Sequence[Request]) -> list[Bank]:
    ids = {1, *(request.bank for request in requests if request.bank is not None)}
    return [Bank(f"memory {id}", id) for id in sorted(ids)]


def _check_banks(requests: Sequence[Request], banks: Sequence[Bank]) -> None:
    ids = {bank.id for bank in banks}
    assert len(ids) == len(banks) > 0, "banks: expected at least one, each with a unique memory id"
    for request in requests:
        if request.bank not in (None, *ids):
            known = ", ".join(f"{bank.id} ('{bank.name}')" for bank in banks)
            raise InvalidArgument(
                f"memory bank of '{request.name}': expected one of {known}, got {request.bank}"
            )


def _lay_out(
    requests: Sequence[Request], problem: Problem, banks: Sequence[Bank], planner: Planner
) -> list[tuple[Share, Layout]]:
    """Assigns every request to the fastest bank allowed if all fit, else spreads them over the banks.

    Errors: DoesNotFit.
    """
    parts = [_plan_share(problem, share, planner) for share in _all_in_fastest(requests, banks)]
    if all(share.bank.size is None or layout.size <= share.bank.size for share, layout in parts):
        return parts
    try:
        shares = spread(requests, problem, banks, planner)
    except DoesNotFit as lost:
        raise shortage(requests, problem, banks, lost.index, planner) from None
    return [_plan_share(problem, share, planner) for share in shares]


def _all_in_fastest(requests: Sequence[Request], banks: Sequence[Bank]) -> list[Share]:
    shares = {bank.id: Share(bank) for bank in banks}
    fastest = max(banks, key=lambda bank: bank.speed)
    for index, request in enumerate(requests):
        shares[fastest.id if request.bank is None else request.bank].indices.append(index)
    return list(shares.values())


def _plan_share(problem: Problem, share: Share, planner: Planner) -> tuple[Share, Layout]:
    """Plans a share; keeps its previous offsets if they need less."""
    part = problem.part(share.indices)
    layout = planner(part)
    if share.offsets:
        size = part.size_of(np.array(share.offsets, np.int64))
        if size < layout.size:
            layout = Layout(tuple(share.offsets), size, greedy_by_size.__name__, size == part.lower_bound)
    return Share(share.bank, share.indices, list(layout.offsets)), layout


def _use(problem: Problem, share: Share, layout: Layout) -> BankUse:
    return BankUse(share.bank, layout.size, problem.part(share.indices).lower_bound)


def _lower_bound(requests: Sequence[Request], problem: Problem, banks: Sequence[Bank]) -> int:
    """The largest live set overall, or the sum over the banks of the requests fixed to each."""
    fixed = 0
    for bank in banks:
        indices = [index for index, request in enumerate(requests) if request.bank == bank.id]
        fixed += problem.part(indices).lower_bound
    return max(problem.lower_bound, fixed)

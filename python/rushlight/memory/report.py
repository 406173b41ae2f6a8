# SPDX-License-Identifier: BSD-3-Clause
"""The size of a plan and its lower bound, as data and as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rushlight.memory.problem import Problem
from rushlight.memory.requests import BankUse, Plan, Request


def requests_of(plan: Plan, bank: int) -> list[Request]:
    """The requests in the bank with that memory id."""
    pairs = zip(plan.requests, plan.placements, strict=True)
    return [request for request, placement in pairs if placement.bank == bank]


def live_bytes(requests: Sequence[Request]) -> list[tuple[int, int]]:
    """(instruction, bytes alive from it on) at each change; sizes are rounded up as in plans."""
    if not requests:
        return []
    problem = Problem.of(requests)
    ends = np.array([request.last + 1 for request in requests], np.int64)
    at = np.union1d(problem.starts, ends)
    changes = np.zeros(len(at), np.int64)
    np.add.at(changes, np.searchsorted(at, problem.starts[problem.first]), problem.sizes)
    np.subtract.at(changes, np.searchsorted(at, ends), problem.sizes)
    return list(zip(at.tolist(), np.cumsum(changes).tolist(), strict=True))


def alive_at_peak(requests: Sequence[Request]) -> tuple[int, list[Request]]:
    """The first instruction with the most bytes alive, and the requests alive there, largest first."""
    if not requests:
        return 0, []
    instruction, _ = max(live_bytes(requests), key=lambda step: step[1])
    alive = [request for request in requests if request.first <= instruction <= request.last]
    return instruction, sorted(alive, key=lambda request: -request.nbytes)


def to_json(plan: Plan) -> dict[str, Any]:
    """The plan as JSON types: bytes in total and per bank, and the tensors alive at the peak. Omits unused
    banks."""
    return {
        "peak_bytes": plan.peak,
        "lower_bound_bytes": plan.lower_bound,
        "gap_bytes": plan.gap,
        "optimal": plan.optimal,
        "planner": plan.planner,
        "seconds": plan.seconds,
        "tensors": len(plan.requests),
        "banks": [_bank(plan, use) for use in plan.banks if use.size],
    }


def _bank(plan: Plan, use: BankUse) -> dict[str, Any]:
    requests = requests_of(plan, use.bank.id)
    instruction, alive = alive_at_peak(requests)
    return {
        "name": use.bank.name,
        "memory_id": use.bank.id,
        "bytes": use.size,
        "size_bytes": use.bank.size,
        "lower_bound_bytes": use.lower_bound,
        "tensors": len(requests),
        "peak_instruction": instruction,
        "alive_at_peak": [
            {"name": request.name, "bytes": request.nbytes, "source": request.note} for request in alive
        ],
    }


def summary(plan: Plan) -> list[str]:
    """One line of text for each bank in use, and one for the total."""
    lines = []
    for use in plan.banks:
        if use.size:
            of = f" of {use.bank.size:,}" if use.bank.size is not None else ""
            count = len(requests_of(plan, use.bank.id))
            lines.append(f"{use.bank.name}: {use.size:,}{of} bytes for {count} tensor{'s' * (count != 1)}")
    proof = "the least possible" if plan.optimal else f"lower bound {plan.lower_bound:,}, gap {gap(plan)}"
    lines.append(f"planned memory: {plan.peak:,} bytes, {proof} ({plan.planner}, {plan.seconds:.2f} s)")
    return lines


def gap(plan: Plan) -> str:
    """The bytes above the lower bound, and their share of it, as text."""
    share = plan.gap / plan.lower_bound if plan.lower_bound else 0.0
    return f"{plan.gap:,} ({share:.1%})"

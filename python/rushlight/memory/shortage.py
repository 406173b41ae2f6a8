# SPDX-License-Identifier: BSD-3-Clause
"""The error for requests that do not fit in their banks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rushlight.errors import DoesNotFit
from rushlight.memory.problem import Problem
from rushlight.memory.requests import Bank, Request
from rushlight.memory.spread import Planner


def shortage(
    requests: Sequence[Request], problem: Problem, banks: Sequence[Bank], index: int, planner: Planner
) -> DoesNotFit:
    """The error for request `index`, which fits in no allowed bank: lists the tensors that compete with it at
    the peak."""
    fixed = requests[index].bank
    allowed = [bank for bank in banks if fixed in (None, bank.id)]
    sizes = [bank.size for bank in allowed if bank.size is not None]
    names = " and ".join(f"'{bank.name}'" for bank in allowed)
    label = f"planned memory does not fit bank{'s' * (len(allowed) > 1)} {names}"
    if len(allowed) > 1 and requests[index].nbytes > max(sizes):
        request = requests[index]
        label += f", of which the largest is smaller than '{request.name}'"
        alive = [(request.name, request.nbytes, request.note)]
        return DoesNotFit(label, int(problem.sizes[index]), max(sizes), "on its own", alive)
    rivals = [i for i, request in enumerate(requests) if request.bank == fixed or fixed is None]
    part = problem.part(rivals)
    position = int(np.argmax(part.live_bytes))
    alive = [
        (requests[rival].name, requests[rival].nbytes, requests[rival].note)
        for rival, first, last in zip(rivals, part.first.tolist(), part.last.tolist(), strict=True)
        if first <= position <= last
    ]
    needed, available = part.lower_bound, sum(sizes)
    if needed <= available:
        needed = planner(part).size
        label += f" (the largest live set of {part.lower_bound} bytes would, but leaves gaps)"
    return DoesNotFit(label, needed, available, f"at the peak, instruction {problem.starts[position]}", alive)

# SPDX-License-Identifier: BSD-3-Clause
"""Reports say what a plan takes, what it has to, and what is alive at the peak."""

from __future__ import annotations

import json

from hypothesis import given

from rushlight.memory import Bank, Request, plan
from rushlight.memory.report import alive_at_peak, live_bytes, summary, to_json
from support.memory_requests import some_requests

REQUESTS = [
    Request("x", 100, 0, 1, note="model.py:3"),
    Request("y", 200, 1, 2, note="model.py:4"),
    Request("z", 50, 3, 4),
]
BANKS = [Bank("fast", 1, 256, 4), Bank("slow", 2), Bank("unused", 3)]


def test_the_data_has_every_bank_in_use_and_what_is_alive_at_its_peak() -> None:
    told = to_json(plan(REQUESTS, BANKS))
    assert json.loads(json.dumps(told)) == told
    assert (told["peak_bytes"], told["lower_bound_bytes"], told["gap_bytes"]) == (320, 320, 0)
    assert [bank["name"] for bank in told["banks"]] == ["fast", "slow"]
    assert sum(bank["tensors"] for bank in told["banks"]) == told["tensors"] == 3
    (fast, _) = told["banks"]
    assert (fast["memory_id"], fast["size_bytes"]) == (1, 256)
    alive = {row["name"]: row["source"] for bank in told["banks"] for row in bank["alive_at_peak"]}
    assert alive == {"x": "model.py:3", "y": "model.py:4"}


def test_the_text_has_a_line_for_each_bank_and_one_for_all() -> None:
    first, second, last = summary(plan(REQUESTS, BANKS))
    assert first.startswith("fast: ") and " 256 bytes for " in first
    assert second.startswith("slow: ") and " of " not in second
    assert last.startswith("planned memory: 320 bytes, the least possible (greedy_by_size, ")


def test_the_text_tells_the_gap() -> None:
    (_, last) = summary(plan(REQUESTS, planner="naive"))
    assert "planned memory: 384 bytes, lower bound 320, gap 64 (20.0%) (naive, " in last


def test_a_plan_of_nothing_is_told() -> None:
    made = plan([])
    assert len(summary(made)) == 1
    assert to_json(made)["banks"] == []


def test_what_is_alive_changes_where_lives_begin_and_end() -> None:
    assert live_bytes(REQUESTS) == [(0, 112), (1, 320), (2, 208), (3, 64), (5, 0)]
    instruction, alive = alive_at_peak(REQUESTS)
    assert (instruction, [request.name for request in alive]) == (1, ["y", "x"])


@given(requests=some_requests(alignments=(16,)))
def test_the_lower_bound_is_the_most_that_is_alive(requests: list[Request]) -> None:
    most = max((live for _, live in live_bytes(requests)), default=0)
    assert most == plan(requests, planner="greedy_by_size").lower_bound
    _, alive = alive_at_peak(requests)
    assert sum(-(-request.nbytes // 16) * 16 for request in alive) == most

# SPDX-License-Identifier: BSD-3-Clause
"""What was measured, and the ratios that come of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from contestants import CONTESTANTS
from measuring import Failures, Timing, Timings

OURS = "rushlight"

_TOLERANCE = 1e-4
_INT8_TOLERANCE = 0.3  # of networks with random weights: the same network, not how well it was quantized


def tolerance_of(kind: str) -> float:
    """Outputs that differ from eager ones by more than this share of the largest magnitude are wrong."""
    return _INT8_TOLERANCE if kind == "int8" else _TOLERANCE


@dataclass(frozen=True)
class Row:
    """A subject: its operations and bytes, whether moving bytes bounds it, and each contestant's times."""

    name: str
    kind: str  # model, int8, compute or memory
    flops: float
    bytes: int
    timings: Timings
    failures: Failures

    def is_right(self, timing: Timing) -> bool:
        """Whether the outputs behind a time are those of eager mode, in float."""
        return timing.error <= tolerance_of(self.kind)

    def fastest_peer(self, clock: str) -> tuple[str, Timing] | None:
        """Of somebody else's runtimes with right outputs, the one with the least time."""
        peers = [
            pair for pair in self.timings.items() if CONTESTANTS[pair[0]].peer and self.is_right(pair[1])
        ]
        return min(peers, key=lambda pair: pair[1].of(clock), default=None)

    def ratio(self, clock: str, name: str = OURS) -> float | None:
        """A contestant's time over the fastest peer's; less than 1 is faster than all of them. None for a
        contestant with wrong outputs."""
        peer, ours = self.fastest_peer(clock), self.timings.get(name)
        return ours.of(clock) / peer[1].of(clock) if peer and ours and self.is_right(ours) else None

    def against(self, other: str, clock: str) -> float | None:
        """Our time over that of one other contestant."""
        theirs, ours = self.timings.get(other), self.timings.get(OURS)
        return ours.of(clock) / theirs.of(clock) if theirs and ours and self.is_right(ours) else None

    def to_json(self, clock: str) -> dict[str, Any]:
        """In JSON's types."""
        peer = self.fastest_peer(clock)
        return {
            **asdict(self),
            "fastest_peer": peer[0] if peer else None,
            "ratio": self.ratio(clock),
            "ratio_to_copy": self.against("copy", clock),
        }


@dataclass(frozen=True)
class Load:
    """What loading a model takes: see `measuring.loading`; medians."""

    model: str
    contestant: str
    load: dict[str, float]
    first_run: dict[str, float]
    before: int
    loaded: int
    run: int


@dataclass
class Report:
    """Of one run. `clock` is what ratios are of: CPU time on one thread, wall clock on several."""

    machine: dict[str, Any]
    versions: dict[str, str]
    absent: dict[str, str]
    threads: int
    clock: str
    commit: str
    started: str
    rows: list[Row] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)

    def of_kind(self, *kinds: str) -> list[Row]:
        """The rows of models, or of operators that computing or moving bytes bounds."""
        return [row for row in self.rows if row.kind in kinds]

    def to_json(self) -> dict[str, Any]:
        """In JSON's types."""
        kinds = ("model", "int8", "compute", "memory")
        means = {kind: mean_ratio(self.of_kind(kind), self.clock) for kind in kinds}
        return {
            **{key: value for key, value in asdict(self).items() if key not in ("rows", "loads")},
            "geometric_means": means,
            "rows": [row.to_json(self.clock) for row in self.rows],
            "loads": [asdict(load) for load in self.loads],
        }


def geometric_mean(values: Sequence[float]) -> float | None:
    """None of nothing."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def mean_ratio(rows: Sequence[Row], clock: str, name: str = OURS) -> float | None:
    """The geometric mean of all ratios that there are."""
    return geometric_mean([ratio for row in rows if (ratio := row.ratio(clock, name)) is not None])

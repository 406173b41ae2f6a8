# SPDX-License-Identifier: BSD-3-Clause
"""The measurements, and the ratios derived from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from contestants import CONTESTANTS
from measuring import Failures, Timing, Timings

OURS = "rushlight"

_TOLERANCE = 1e-4
_INT8_TOLERANCE = 0.3  # for random weights: detects another network, not the quality of quantization


def tolerance_of(kind: str) -> float:
    """Outputs that differ from eager ones by more than this share of the largest magnitude are wrong."""
    return _INT8_TOLERANCE if kind == "int8" else _TOLERANCE


@dataclass(frozen=True)
class Row:
    """A subject: its operations and bytes, its kind, and each contestant's times."""

    name: str
    kind: str  # see subjects.kind_of
    flops: float
    bytes: int
    timings: Timings
    failures: Failures

    def is_right(self, timing: Timing) -> bool:
        """True if the outputs of a timing agree with eager mode in float."""
        return timing.error <= tolerance_of(self.kind)

    def fastest_peer(self, clock: str) -> tuple[str, Timing] | None:
        """The fastest of the peers with right outputs."""
        peers = [
            pair for pair in self.timings.items() if CONTESTANTS[pair[0]].peer and self.is_right(pair[1])
        ]
        return min(peers, key=lambda pair: pair[1].of(clock), default=None)

    def ratio(self, clock: str, name: str = OURS) -> float | None:
        """A contestant's time over the fastest peer's; below 1 it is faster than all peers. None for a
        contestant with wrong outputs."""
        peer, ours = self.fastest_peer(clock), self.timings.get(name)
        return ours.of(clock) / peer[1].of(clock) if peer and ours and self.is_right(ours) else None

    def against(self, other: str, clock: str) -> float | None:
        """Our time over that of one other contestant."""
        theirs, ours = self.timings.get(other), self.timings.get(OURS)
        return ours.of(clock) / theirs.of(clock) if theirs and ours and self.is_right(ours) else None

    def to_json(self, clock: str) -> dict[str, Any]:
        """As JSON types."""
        peer = self.fastest_peer(clock)
        return {
            **asdict(self),
            "fastest_peer": peer[0] if peer else None,
            "ratio": self.ratio(clock),
            "ratio_to_copy": self.against("copy", clock),
        }


@dataclass(frozen=True)
class Load:
    """The cost of loading a model, see `measuring.loading`; medians."""

    model: str
    contestant: str
    load: dict[str, float]
    first_run: dict[str, float]
    before: int
    loaded: int
    run: int


@dataclass
class Report:
    """All results of one run. `clock` is the time of the ratios: CPU time on one thread, wall clock on
    several."""

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
        """The rows of these kinds: models, or operators bound by computing or by moving bytes."""
        return [row for row in self.rows if row.kind in kinds]

    def to_json(self) -> dict[str, Any]:
        """As JSON types."""
        kinds = ("model", "unseen", "recurrent", "int8", "compute", "memory")
        means = {kind: mean_ratio(self.of_kind(kind), self.clock) for kind in kinds}
        return {
            **{key: value for key, value in asdict(self).items() if key not in ("rows", "loads")},
            "geometric_means": means,
            "rows": [row.to_json(self.clock) for row in self.rows],
            "loads": [asdict(load) for load in self.loads],
        }


def geometric_mean(values: Sequence[float]) -> float | None:
    """The geometric mean, or None for no values."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def mean_ratio(rows: Sequence[Row], clock: str, name: str = OURS) -> float | None:
    """The geometric mean of the ratios that exist."""
    return geometric_mean([ratio for row in rows if (ratio := row.ratio(clock, name)) is not None])

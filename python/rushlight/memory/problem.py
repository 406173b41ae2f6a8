# SPDX-License-Identifier: BSD-3-Clause
"""The requests of one bank as arrays, and a lower bound on every layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rushlight.memory.requests import Request

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Problem:
    """The requests of one bank as int64 arrays of shape (count,), by index.

    `sizes` are rounded up to `granule`, the smallest alignment: offsets are multiples of it, so the rest
    is unusable. `first` and `last` index `starts`, the sorted instructions at which some lifetime begins,
    shape (positions,): live sets are largest there.
    """

    sizes: Ints
    first: Ints
    last: Ints
    alignments: Ints
    granule: int
    starts: Ints

    @classmethod
    def of(cls, requests: Sequence[Request]) -> Problem:
        """The arrays of `requests`, in their order."""
        rows = [(r.nbytes, r.first, r.last, r.alignment) for r in requests]
        nbytes, first, last, alignments = np.array(rows, np.int64).reshape(-1, 4).T
        granule = int(alignments.min(initial=1 << 62)) if rows else 1
        starts = np.unique(first)
        return cls(
            sizes=-(-nbytes // granule) * granule,
            first=np.searchsorted(starts, first),
            last=np.searchsorted(starts, last, side="right") - 1,
            alignments=np.ascontiguousarray(alignments),
            granule=granule,
            starts=starts,
        )

    def part(self, indices: Sequence[int] | Ints) -> Problem:
        """The problem restricted to some requests, with the same granule and positions."""
        at = np.array(indices, np.int64)
        columns = (self.sizes[at], self.first[at], self.last[at], self.alignments[at])
        return Problem(*columns, self.granule, self.starts)

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def live_bytes(self) -> Ints:
        """The bytes alive at each position: shape (positions,)."""
        changes = np.zeros(len(self.starts) + 1, np.int64)
        np.add.at(changes, self.first, self.sizes)
        np.subtract.at(changes, self.last + 1, self.sizes)
        return np.cumsum(changes)[:-1]

    @cached_property
    def lower_bound(self) -> int:
        """The largest live set in bytes."""
        return int(self.live_bytes.max(initial=0))

    def size_of(self, offsets: Ints) -> int:
        """The bytes up to the end of the last request if they are at `offsets`, shape (count,)."""
        return int((offsets + self.sizes).max(initial=0))

# SPDX-License-Identifier: BSD-3-Clause
"""What is asked of the memory planner and what it answers: requests, banks, the plan."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Request:
    """Bytes that are needed for a while.

    `first` and `last` are positions of instructions, both inclusive: what lives up to an instruction and what
    lives from that instruction on do not share bytes. `alignment` is a power of two, in bytes. `bank` is the
    memory id that it has to be in, or None for any. `uses` counts the instructions that read or write it.
    `note` is shown in reports, such as the line of Python that it comes from. Names are unique.
    """

    name: str
    nbytes: int
    first: int
    last: int
    alignment: int = 16
    bank: int | None = None
    uses: int = 1
    note: str = ""

    def __post_init__(self) -> None:
        assert self.nbytes >= 0, f"'{self.name}': {self.nbytes} bytes"
        assert self.first <= self.last, f"'{self.name}': lives from {self.first} to {self.last}"
        power_of_two = self.alignment > 0 and self.alignment & (self.alignment - 1) == 0
        assert power_of_two, f"'{self.name}': a power of two expected as alignment, got {self.alignment}"


@dataclass(frozen=True)
class Bank:
    """A memory that planned tensors may be in: `id` is its memory id in the program, 1 or more; `size` in
    bytes, None for as large as needed; `speed` in bytes per cycle, or anything else of which more is
    faster."""

    name: str
    id: int
    size: int | None = None
    speed: float = 1.0


@dataclass(frozen=True)
class Placement:
    """Where a request was put: the memory id of its bank, and the offset there in bytes."""

    bank: int
    offset: int


@dataclass(frozen=True)
class Layout:
    """What a planner makes of requests for one bank: their offsets in the order of the requests, and the size
    up to the end of the last one, in bytes. `optimal` if there is none of a smaller size."""

    offsets: tuple[int, ...]
    size: int
    planner: str
    optimal: bool


@dataclass(frozen=True)
class BankUse:
    """How much of a bank a plan takes, and the least that the requests in it could take: their largest live
    set. Both in bytes."""

    bank: Bank
    size: int
    lower_bound: int


@dataclass(frozen=True)
class Plan:
    """Places for all requests. `placements` are in the order of `requests`; `banks` in the order given.

    Bytes are rounded up to the smallest alignment among the requests. `lower_bound` is the largest live set,
    or what requests of fixed banks need at least. `optimal` if no plan can have a smaller peak.
    """

    requests: tuple[Request, ...]
    placements: tuple[Placement, ...]
    banks: tuple[BankUse, ...]
    lower_bound: int
    planner: str
    seconds: float
    optimal: bool

    @cached_property
    def by_name(self) -> dict[str, Placement]:
        """The placement of each request."""
        names = (request.name for request in self.requests)
        return dict(zip(names, self.placements, strict=True))

    @property
    def peak(self) -> int:
        """Bytes of all banks together."""
        return sum(use.size for use in self.banks)

    @property
    def gap(self) -> int:
        """Bytes above the lower bound."""
        return self.peak - self.lower_bound

    @property
    def buffer_sizes(self) -> tuple[int, ...]:
        """Bytes by memory id, as a method of a program has them: 0 is reserved, banks not used are empty."""
        sizes = {use.bank.id: use.size for use in self.banks}
        used = (placement.bank for placement in self.placements)  # if only by tensors of no bytes
        highest = max((*used, *(id for id, size in sizes.items() if size)), default=0)
        return tuple(sizes.get(id, 0) for id in range(highest + 1))

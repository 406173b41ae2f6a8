# SPDX-License-Identifier: BSD-3-Clause
"""The input and output of the memory planner: requests, banks, the plan."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Request:
    """Bytes that are needed for a lifetime.

    `first` and `last` are positions of instructions, both inclusive: a request that ends at an instruction
    and one that begins at it do not share bytes. `alignment` is a power of two in bytes. `bank` fixes the
    memory id; None allows any. `uses` counts the instructions that read or write the bytes. `note` is text
    for reports, such as the source line. Names are unique.
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
        assert self.nbytes >= 0, f"'{self.name}': expected at least 0 bytes, got {self.nbytes}"
        assert self.first <= self.last, (
            f"'{self.name}': expected first <= last, got {self.first} to {self.last}"
        )
        power_of_two = self.alignment > 0 and self.alignment & (self.alignment - 1) == 0
        assert power_of_two, f"'{self.name}': alignment: expected a power of two, got {self.alignment}"


@dataclass(frozen=True)
class Bank:
    """A memory bank: `id` is its memory id in the program, at least 1; `size` in bytes, None for unlimited;
    `speed` in bytes per cycle or another rate."""

    name: str
    id: int
    size: int | None = None
    speed: float = 1.0


@dataclass(frozen=True)
class Placement:
    """The assignment of a request: the memory id of its bank, and its offset in bytes."""

    bank: int
    offset: int


@dataclass(frozen=True)
class Layout:
    """A planner's result for one bank: the offsets in the order of the requests, and the size up to the end
    of the last one, both in bytes. `optimal` is True if no smaller size is possible."""

    offsets: tuple[int, ...]
    size: int
    planner: str
    optimal: bool


@dataclass(frozen=True)
class BankUse:
    """The bytes of a bank that a plan uses, and the lower bound for its requests, their largest live set."""

    bank: Bank
    size: int
    lower_bound: int


@dataclass(frozen=True)
class Plan:
    """The plan of all requests. `placements` are in the order of `requests`, `banks` in the given order.

    Sizes are rounded up to the smallest alignment among the requests. `lower_bound` is the largest live
    set, or the least that requests of fixed banks need. `optimal` is True if no plan has a smaller peak.
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
        """The placement of each request, by name."""
        names = (request.name for request in self.requests)
        return dict(zip(names, self.placements, strict=True))

    @property
    def peak(self) -> int:
        """The bytes of all banks together."""
        return sum(use.size for use in self.banks)

    @property
    def gap(self) -> int:
        """The bytes above the lower bound."""
        return self.peak - self.lower_bound

    @property
    def buffer_sizes(self) -> tuple[int, ...]:
        """Bytes by memory id, as a method of a program stores them: 0 is reserved, unused banks are empty."""
        sizes = {use.bank.id: use.size for use in self.banks}
        used = (placement.bank for placement in self.placements)  # a bank may have only empty tensors
        highest = max((*used, *(id for id, size in sizes.items() if size)), default=0)
        return tuple(sizes.get(id, 0) for id in range(highest + 1))

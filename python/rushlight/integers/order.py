# SPDX-License-Identifier: BSD-3-Clause
"""Decides the dim orders of images and of weights, for the exporter's graphs and for program files."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

from rushlight.integers.cut import UNLIMITED, MinimumCut
from rushlight.program.dim_order import DimOrder, row_major

_Call = TypeVar("_Call", bound=Hashable)
_ROW_MAJOR = "row-major"

IMAGE_CHANNELS = 4
"""Inputs of convolutions with at most this many channels are not converted: kImageChannels in
kernels/geometry/image_channels.h."""

_CHANNELS_LAST_RANKS = (4, 5)


def is_either(sizes: Sequence[int]) -> bool:
    """True if a tensor's memory is the same row-major and channels-last: one channel, or one pixel."""
    return len(sizes) not in _CHANNELS_LAST_RANKS or sizes[1] == 1 or all(n == 1 for n in sizes[2:])


class OrderCosts(Generic[_Call]):
    """The costs of row-major and channels-last results, for each of a set of calls.

    Method: a minimum cut between the calls with channels-last results and those with row-major ones. Costs
    are in bytes copied; a convolution that reads and writes row-major tensors costs `ROW_MAJOR_CONVOLUTION`
    of their bytes, since its kernel gathers the channels of each pixel.
    """

    ROW_MAJOR_CONVOLUTION = 0.75
    """Less than 1, so that a single convolution is not worth a copy of its input and one of its result."""

    def __init__(self) -> None:
        self._cut: MinimumCut[Hashable] = MinimumCut()
        self._calls: set[_Call] = set()

    def call(self, call: _Call, cost: float = 0) -> None:
        """Adds a call whose result may be channels-last, and the cost if it is row-major."""
        self._calls.add(call)
        self._cut.first(call, int(cost))

    def read(self, value: Hashable, maker: _Call | None, readers: Sequence[_Call | None], size: int) -> None:
        """Adds the copy of a value of `size` bytes, made once, if a reader needs another order than its maker
        writes. None stands for a maker or reader of row-major tensors that is no call of the set."""
        here: Hashable = _ROW_MAJOR if maker is None else maker
        there: list[Hashable] = [_ROW_MAJOR if reader is None else reader for reader in readers]
        to_rows, to_last = (value, "row-major"), (value, "channels-last")
        self._cut.apart(here, to_rows, size)
        self._cut.apart(to_last, here, size)
        for reader in there:
            self._cut.apart(to_rows, reader, UNLIMITED)
            self._cut.apart(reader, to_last, UNLIMITED)

    def channels_last(self) -> set[_Call]:
        """The calls whose results are channels-last; row-major if both cost the same. Call it once."""
        self._cut.second(_ROW_MAJOR, UNLIMITED)
        chosen = self._cut.solve()
        return {call for call in self._calls if call in chosen}


def order_of_convolution(sizes: Sequence[int], groups: int, by_channel: bool) -> DimOrder:
    """The storage order of a convolution's weights; `by_channel` if the input's channels are innermost.
    Weights have the order in which an output reads its input; a depthwise convolution's are
    [taps][channels]."""
    rank = len(sizes)
    if not by_channel:
        return row_major(rank)
    if groups > 1 and sizes[1] == 1 and sizes[0] == groups:
        return (*range(1, rank), 0)
    return (0, *range(2, rank), 1)

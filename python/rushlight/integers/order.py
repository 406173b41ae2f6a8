# SPDX-License-Identifier: BSD-3-Clause
"""In which order integer convolutions want tensors to lie: for the exporter's graphs and for files alike."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from rushlight.program.dim_order import DimOrder, row_major

_Node = TypeVar("_Node", bound=Hashable)

IMAGE_CHANNELS = 4
"""Of so many channels, inputs of convolutions stay as they are: kImageChannels of
kernels/geometry/image_channels.h."""

_CHANNELS_LAST_RANKS = (4, 5)


def is_either(sizes: Sequence[int]) -> bool:
    """Whether a tensor lies the same in memory row-major and channels-last: one channel, or one pixel."""
    return len(sizes) not in _CHANNELS_LAST_RANKS or sizes[1] == 1 or all(n == 1 for n in sizes[2:])


def connected(members: Iterable[_Node], reads: Callable[[_Node], Iterable[_Node]]) -> list[list[_Node]]:
    """The members in groups, each connected by what its members read of one another. Members come in the
    order of execution."""
    parents: dict[_Node, _Node] = {}

    def root(node: _Node) -> _Node:
        while parents[node] is not node:
            parents[node] = parents[parents[node]]
            node = parents[node]
        return node

    for node in members:
        parents[node] = node
        for read in reads(node):
            if read in parents:
                parents[root(read)] = node
    groups: dict[_Node, list[_Node]] = {}
    for node in parents:
        groups.setdefault(root(node), []).append(node)
    return list(groups.values())


def is_worth_converting(convolutions: int, borders: int, needs_convolution: bool) -> bool:
    """Whether a group is to be channels-last: it has at least as many convolutions that gain by it as tensors
    that are converted at its borders."""
    return convolutions >= max(borders, needs_convolution)


def order_of_convolution(sizes: Sequence[int], groups: int, by_channel: bool) -> DimOrder:
    """The order of a convolution's weights, of whose input channels lie side by side or not: that in which an
    output sees its input; of a depthwise one [taps][channels]."""
    rank = len(sizes)
    if not by_channel:
        return row_major(rank)
    if groups > 1 and sizes[1] == 1 and sizes[0] == groups:
        return (*range(1, rank), 0)
    return (0, *range(2, rank), 1)

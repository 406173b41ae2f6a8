# SPDX-License-Identifier: BSD-3-Clause
"""Decides the dim orders for integer convolutions, for the exporter's graphs and for program files."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from rushlight.program.dim_order import DimOrder, row_major

_Node = TypeVar("_Node", bound=Hashable)

IMAGE_CHANNELS = 4
"""Inputs of convolutions with at most this many channels are not converted: kImageChannels in
kernels/geometry/image_channels.h."""

_CHANNELS_LAST_RANKS = (4, 5)


def is_either(sizes: Sequence[int]) -> bool:
    """True if a tensor's memory is the same row-major and channels-last: one channel, or one pixel."""
    return len(sizes) not in _CHANNELS_LAST_RANKS or sizes[1] == 1 or all(n == 1 for n in sizes[2:])


def connected(members: Iterable[_Node], reads: Callable[[_Node], Iterable[_Node]]) -> list[list[_Node]]:
    """The connected components of the members, where a member is connected to the members that it reads.
    Members must be in order of execution. Union-find: near linear time."""
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
    """True if a group should be channels-last: it has at least as many convolutions that benefit as tensors
    to convert at its borders."""
    return convolutions >= max(borders, needs_convolution)


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

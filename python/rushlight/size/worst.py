# SPDX-License-Identifier: BSD-3-Clause
"""The deepest path through a call graph: the maximum stack bytes, and the functions on the path."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

Chain = tuple[int, tuple[int, ...]]
"""Bytes, and the functions that use them, from the outermost on."""

_STEPS = 20_000
_MEMBERS = 12
"""The maximum number of paths tried within one cycle, and of functions in it, before all frames are added up.
"""


@dataclass(frozen=True)
class Deepest:
    """`bytes` of all frames, `path` the functions from the outermost on. `recursive` are functions on cycles;
    each counts once."""

    bytes: int
    path: tuple[int, ...]
    recursive: frozenset[int]


def deepest(
    root: int,
    calls: Callable[[int], Iterable[int]],
    frame: Callable[[int], int],
    depth: Callable[[int], int] = lambda node: 1,
) -> Deepest:
    """The deepest path from `root`. In cycles of calls it is the deepest path that enters no function twice;
    for cycles with too many paths the sum of all frames, an upper bound. `depth` returns how often a
    function can be on the path; the frames of its cycles count that often, and are not `recursive`."""
    groups = _components(root, calls)
    group_of = {node: index for index, group in enumerate(groups) for node in group}
    below: dict[int, Chain] = {}  # per function called from outside its group

    def leave(node: int) -> Chain:
        best: Chain = (0, ())
        for callee in calls(node):
            if group_of[callee] != group_of[node] and below[callee][0] >= best[0]:
                best = below[callee]
        return best

    # Tarjan's order: callees of a group come before it.
    recursive: set[int] = set()
    for group in groups:
        members = set(group)
        if len(group) == 1 and group[0] not in set(calls(group[0])):
            (node,) = group
            rest = leave(node)
            below[node] = (frame(node) + rest[0], (node, *rest[1]))
            continue
        free = [node for node in group if depth(node) == 1]
        levels = max(map(depth, group)) - 1
        if levels == 0 or _cyclic(free, calls):
            recursive |= members
        exits = {node: leave(node) for node in group}
        inside: dict[int, Chain] = dict.fromkeys(group, (0, ()))
        level = max(_within(node, members, calls, frame, inside)[0] for node in group) if levels else 0
        for node in group:
            used, path = _within(node, members, calls, frame, exits)
            below[node] = (used + levels * level, path)
    best = below[root]
    return Deepest(best[0], best[1], frozenset(recursive))


def _cyclic(nodes: list[int], calls: Callable[[int], Iterable[int]]) -> bool:
    members = set(nodes)

    def inside(node: int) -> list[int]:
        return [callee for callee in calls(node) if callee in members]

    groups = (group for node in nodes for group in _components(node, inside))
    return any(len(group) > 1 or group[0] in inside(group[0]) for group in groups)


def _within(
    start: int,
    members: set[int],
    calls: Callable[[int], Iterable[int]],
    frame: Callable[[int], int],
    exits: dict[int, Chain],
) -> Chain:
    """The deepest path from `start` through a cycle and out of it."""
    best: Chain = (0, ())
    waiting: list[tuple[int, tuple[int, ...], int]] = [(start, (start,), frame(start))]
    for _ in range(_STEPS if len(members) <= _MEMBERS else 0):
        if not waiting:
            return best
        node, path, used = waiting.pop()
        if used + exits[node][0] >= best[0]:
            best = (used + exits[node][0], path + exits[node][1])
        for callee in calls(node):
            if callee in members and callee not in path:
                waiting.append((callee, (*path, callee), used + frame(callee)))
    last = max(exits.values(), key=lambda chain: chain[0])
    others = tuple(sorted(members - {start}))
    return sum(map(frame, members)) + last[0], (start, *others, *last[1])


def _components(root: int, calls: Callable[[int], Iterable[int]]) -> list[list[int]]:
    """Strongly connected components, callees first: Tarjan's algorithm without recursion."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    groups: list[list[int]] = []
    work = [(root, iter(list(calls(root))))]
    index[root] = low[root] = 0
    stack.append(root)
    on_stack.add(root)
    while work:
        node, rest = work[-1]
        for callee in rest:
            if callee not in index:
                index[callee] = low[callee] = len(index)
                stack.append(callee)
                on_stack.add(callee)
                work.append((callee, iter(list(calls(callee)))))
                break
            if callee in on_stack:
                low[node] = min(low[node], index[callee])
        else:
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[node])
            if low[node] == index[node]:
                group = []
                while True:
                    member = stack.pop()
                    on_stack.discard(member)
                    group.append(member)
                    if member == node:
                        break
                groups.append(group)
    return groups

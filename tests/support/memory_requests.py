# SPDX-License-Identifier: BSD-3-Clause
"""Memory requests for the planner: drawn by hypothesis, packed tightly, and the optimum for a few."""

from __future__ import annotations

import itertools
import random

from hypothesis import strategies as st

from rushlight.memory import Request


@st.composite
def some_requests(
    draw: st.DrawFn, most: int = 12, alignments: tuple[int, ...] = (1, 16, 64)
) -> list[Request]:
    """Up to `most` requests over 14 instructions."""
    requests = []
    for index in range(draw(st.integers(0, most))):
        first = draw(st.integers(0, 8))
        last = first + draw(st.integers(0, 5))
        alignment = draw(st.sampled_from(alignments))
        uses = draw(st.integers(1, 4))
        requests.append(Request(f"t{index}", draw(st.integers(0, 200)), first, last, alignment, uses=uses))
    return requests


def packed(count: int, seed: int) -> list[Request]:
    """Requests that fill 65,536 bytes for 1,000 instructions without a gap: a rectangle that is cut at
    random."""
    generator = random.Random(seed)
    pieces = [(0, 4096, 0, 1000)]
    while len(pieces) < count:
        at = max(range(len(pieces)), key=lambda i: _area(pieces[i]) * generator.random())
        low, high, begin, end = pieces.pop(at)
        if generator.random() < 0.5 and high - low > 1:
            cut = generator.randrange(low + 1, high)
            pieces += [(low, cut, begin, end), (cut, high, begin, end)]
        elif end - begin > 1:
            cut = generator.randrange(begin + 1, end)
            pieces += [(low, high, begin, cut), (low, high, cut, end)]
        else:
            pieces.append((low, high, begin, end))
    generator.shuffle(pieces)
    return [
        Request(f"t{index}", (high - low) * 16, begin, end - 1)
        for index, (low, high, begin, end) in enumerate(pieces)
    ]


def scattered(count: int, seed: int, longest: int = 30) -> list[Request]:
    """Requests of 1 to 100,000 bytes at random times."""
    generator = random.Random(seed)
    requests = []
    for index in range(count):
        first = generator.randrange(count)
        last = first + generator.randrange(longest)
        requests.append(Request(f"t{index}", generator.randrange(1, 100_000), first, last))
    return requests


def recurrent(steps: int, layers: int) -> list[Request]:
    """An unrolled recurrent network: in each layer a large product of all inputs is alive while the results
    of the steps collect, until these are concatenated for the next layer."""
    requests = []
    for layer in range(layers):
        begin, end = layer * (steps + 2), (layer + 1) * (steps + 2)
        requests.append(Request(f"product{layer}", 512 * steps, begin, end - 2))
        for step in range(steps):
            requests.append(Request(f"result{layer}.{step}", 128, begin + 1 + step, end - 1))
            requests.append(Request(f"gates{layer}.{step}", 512, begin + 1 + step, begin + 1 + step))
        requests.append(Request(f"all{layer}", 128 * steps, end - 1, end))
    return requests


def least_size(requests: list[Request]) -> int:
    """The optimum by brute force: the best of first fits in all orders, with sizes rounded up as in plans."""
    granule = min((request.alignment for request in requests), default=1)
    sizes = {request.name: -(-request.nbytes // granule) * granule for request in requests}
    least = sum(sizes.values()) + sum(request.alignment for request in requests)
    for order in itertools.permutations(requests):
        taken: list[tuple[Request, int, int]] = []
        for request in order:
            if sizes[request.name]:
                offset = _first_fit(request, sizes[request.name], taken)
                taken.append((request, offset, offset + sizes[request.name]))
        least = min(least, max((end for _, _, end in taken), default=0))
    return least


def _first_fit(request: Request, size: int, taken: list[tuple[Request, int, int]]) -> int:
    rivals = [
        (low, high)
        for other, low, high in taken
        if other.first <= request.last and request.first <= other.last
    ]
    alignment = request.alignment
    floors = sorted({0, *(-(-high // alignment) * alignment for _, high in rivals)})
    return next(f for f in floors if all(f + size <= low or high <= f for low, high in rivals))


def _area(piece: tuple[int, int, int, int]) -> int:
    low, high, begin, end = piece
    return (high - low) * (end - begin)

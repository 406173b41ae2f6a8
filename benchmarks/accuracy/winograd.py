# SPDX-License-Identifier: BSD-3-Clause
"""Accuracy of 3 x 3 convolutions by Winograd's minimal filtering: the table of decision 21.

Prints the share of outputs outside of PyTorch's float32 tolerances, compared with float64. Transforms and
products are computed in float32 with torch, sums of products in blocks.

    python benchmarks/accuracy/winograd.py
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

SIZE, OUTPUTS = 30, 64
CONTENDERS: dict[str, tuple[int, list[float], int]] = {
    "F(2 x 2), sums of 32": (2, [0, 1, -1], 32),
    "F(2 x 2), sums of 256": (2, [0, 1, -1], 256),
    "F(4 x 4)": (4, [0, 1, -1, 2, -2], 256),
    "F(4 x 4), better points": (4, [0, 0.75, -0.75, 1.5, -1.5], 256),
    "F(3 x 3)": (3, [0, 1, -1, 2], 256),
}
"""Outputs of a tile along one axis, interpolation points besides infinity, and products in a sum."""


def matrices(outputs: int, points: list[float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The Toom-Cook transforms of inputs, weights and products, for kernels of 3."""
    count = len(points) + 1
    inputs, weights, products = np.zeros((count, count)), np.zeros((count, 3)), np.zeros((outputs, count))
    for i, point in enumerate(points):
        others = [other for other in points if other != point]
        inputs[i, : count - 1] = np.poly(others)[::-1]
        weights[i] = point ** np.arange(3) / np.prod([point - other for other in others])
        products[:, i] = point ** np.arange(outputs)
    inputs[-1], weights[-1, -1], products[-1, -1] = np.poly(points)[::-1], 1, 1
    return inputs, weights, products


def transform(matrix: np.ndarray, x: Tensor, dim: int) -> Tensor:
    """Transforms along one dimension, product by product as the loops do."""
    made = []
    for row in matrix:
        terms = [x.select(dim, k) * float(factor) for k, factor in enumerate(row) if factor]
        made.append(sum(terms[1:], terms[0]))
    return torch.stack(made, dim)


def winograd(x: Tensor, weight: Tensor, outputs: int, points: list[float], block: int) -> Tensor:
    """The convolution of `x` without padding."""
    of_inputs, of_weights, of_products = matrices(outputs, points)
    seen, tiles = len(points) + 1, -(-(SIZE - 2) // outputs)
    border = tiles * outputs + 2 - SIZE
    patches = functional.pad(x, (0, border, 0, border)).unfold(2, seen, outputs).unfold(3, seen, outputs)
    parts = transform(of_inputs, transform(of_inputs, patches, 4), 5)
    parts = parts.permute(4, 5, 0, 2, 3, 1).reshape(seen * seen, -1, x.shape[1])
    factors = torch.tensor(of_weights)
    kernels = torch.einsum("ik,ockl,jl->ijco", factors, weight.double(), factors).float()
    kernels = kernels.reshape(seen * seen, x.shape[1], OUTPUTS)
    sums = torch.zeros(seen * seen, parts.shape[1], OUTPUTS)
    for k in range(0, x.shape[1], block):
        sums = sums + parts[:, :, k : k + block].contiguous() @ kernels[:, k : k + block].contiguous()
    sums = sums.reshape(seen, seen, tiles, tiles, OUTPUTS)
    result = transform(of_products, transform(of_products, sums, 0), 1).permute(4, 2, 0, 3, 1)
    return result.reshape(1, OUTPUTS, tiles * outputs, -1)[:, :, : SIZE - 2, : SIZE - 2]


def outside(result: Tensor, exact: Tensor) -> float:
    """The percentage of outputs outside of the tolerances."""
    beyond = (result.double() - exact).abs() > 1e-5 + 1.3e-6 * exact.abs()
    return 100 * beyond.double().mean().item()


def shares(x: Tensor, weight: Tensor) -> list[float]:
    """The percentages of eager mode, of one long sum and of each contender."""
    exact = functional.conv2d(x.double(), weight.double())
    long_sum = (weight.flatten(1) @ functional.unfold(x, 3)).reshape(exact.shape)
    found = [functional.conv2d(x, weight), long_sum]
    found += [winograd(x, weight, *contender) for contender in CONTENDERS.values()]
    return [outside(result, exact) for result in found]


def main() -> None:
    torch.set_num_threads(1)
    print("| channels | magnitude | eager (oneDNN) | one long sum | " + " | ".join(CONTENDERS) + " |")
    print("|--:|" + "--:|" * (3 + len(CONTENDERS)))
    for channels in (64, 128, 256, 512):
        for magnitude in (1, 10, 100):
            generator = torch.Generator().manual_seed(channels + magnitude)
            x = (torch.rand(1, channels, SIZE, SIZE, generator=generator) * 2 - 1) * magnitude
            uniform = torch.rand(OUTPUTS, channels, 3, 3, generator=generator) * 2 - 1
            normal = torch.randn(OUTPUTS, channels, 3, 3, generator=generator)
            scale = (9 * channels) ** -0.5
            pairs = zip(shares(x, uniform * scale), shares(x, normal * 2**0.5 * scale), strict=True)
            cells = (f"{one:.2g} / {other:.2g}" for one, other in pairs)
            print(f"| {channels} | {magnitude} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()

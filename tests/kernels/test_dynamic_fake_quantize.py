# SPDX-License-Identifier: BSD-3-Clause
"""Values that are quantized by their own range, and dequantized: against the definition in numpy, and against
XNNPACK's range."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from support.dynamic_ranges import inverse_seen
from support.harness import KernelRefused, Kernels

NAME = "rushlight::dynamic_fake_quantize.out"
LEAST = 2.0**-126


def xnnpack(x: np.ndarray) -> np.ndarray:
    """The elements of one range, as xnn_qd8_asymmetric_quantization_params defines it, in float32."""
    one = np.float32
    low, high = min(one(0), x.min(initial=0)), max(one(0), x.max(initial=0))
    inverse = one(1) if low == high else one(255) / (high - low)
    least, most = low * inverse, high * inverse
    point = one(-128) - least if (one(-128) + least) + (one(127) + most) > 0 else one(127) - most
    point = np.rint(np.clip(point, one(-128), one(127)))
    scale = one(1) / inverse
    numbers = np.clip(np.rint(x * inverse) + point, -128, 127)
    made: np.ndarray = (numbers - point).astype(np.float32) * scale
    return made


@pytest.mark.parametrize("shared", [0, 1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_each_range_is_found_by_itself(kernels: Kernels, shared: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    x = (generator.normal(size=(2, 5, 37)) * 10.0 ** (seed - 1)).astype(np.float32)
    x[0] += seed
    flat = x.reshape(-1, int(np.prod(x.shape[3 - shared :])))
    expected = np.stack([xnnpack(row) for row in flat]).reshape(x.shape)
    out = torch.full(x.shape, 7.0)
    kernels.run(NAME, [torch.from_numpy(x), shared, "xnnpack", -128, 127, LEAST, out])
    np.testing.assert_array_equal(out.numpy(), expected)


def test_elements_are_multiplied_by_the_inverse_that_the_scale_comes_from(kernels: Kernels) -> None:
    """The scale's own inverse may differ by one unit in the last place, which moves values near a half."""
    x = inverse_seen()
    flips = 0
    for row in x:
        inverse = np.float32(255) / (row[1] - row[0])
        flips += (np.rint(row * inverse) != np.rint(row * (np.float32(1) / (np.float32(1) / inverse)))).any()
    assert flips == len(x) == 32
    out = torch.full(x.shape, 7.0)
    kernels.run(NAME, [torch.from_numpy(x), 1, "xnnpack", -128, 127, LEAST, out])
    np.testing.assert_array_equal(out.numpy(), np.stack([xnnpack(row) for row in x]))


def test_a_range_of_zeros_stays_zero(kernels: Kernels) -> None:
    x, out = torch.zeros(2, 3), torch.full((2, 3), 7.0)
    kernels.run(NAME, [x, 1, "xnnpack", -128, 127, LEAST, out])
    assert not out.any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shared": 4}, "shared_dims"),
        ({"shared": -1}, "shared_dims"),
        ({"mapping": "nearest"}, "mapping"),
        ({"low": 1}, "low, high"),
        ({"least": 0.0}, "least_scale"),
    ],
)
def test_wrong_arguments_are_refused(kernels: Kernels, change: dict[str, Any], message: str) -> None:
    given = {"shared": 1, "mapping": "xnnpack", "low": -128, "high": 127, "least": LEAST} | change
    x, out = torch.ones(2, 3), torch.ones(2, 3)
    with pytest.raises(KernelRefused, match=message):
        kernels.run(NAME, [x, *given.values(), out])

# SPDX-License-Identifier: BSD-3-Clause
"""scaled_dot_product_attention on OpInfo's samples: PyTorch decomposes it before a mode can watch it."""

from __future__ import annotations

import pytest
import torch

from support.harness import FLOATING, Kernels, assert_equal, schema_of
from support.opinfo.pairs import all_pairs, samples

NAME = "aten::scaled_dot_product_attention.out"
ENTRY = "nn.functional.scaled_dot_product_attention"
DEFAULTS = {"attn_mask": None, "dropout_p": 0.0, "is_causal": False, "scale": None, "enable_gqa": False}

# PyTorch scales both factors by a square root, and rounds 16-bit factors in between.
TOLERANCES = {
    torch.float16: {"rtol": 4e-3, "atol": 4e-3},
    torch.bfloat16: {"rtol": 3e-2, "atol": 3e-2},
    torch.float32: {"rtol": 3e-5, "atol": 3e-5},
    torch.float64: {"rtol": 1e-12, "atol": 1e-12},
}


@pytest.mark.parametrize("dtype", FLOATING)
def test_every_sample_of_opinfo(kernels: Kernels, dtype: torch.dtype) -> None:
    [pair] = [pair for pair in all_pairs() if pair.name == ENTRY and pair.dtype == dtype]
    names = [argument.name for argument in schema_of(NAME).arguments][:-1]
    count = 0
    for sample in samples(pair):
        given = dict(zip(names, (sample.input, *sample.args), strict=False)) | sample.kwargs
        if given.get("dropout_p", 0.0) != 0:
            continue
        defaults = {
            "attn_mask": None,
            "dropout_p": 0.0,
            "is_causal": False,
            "scale": None,
            "enable_gqa": False,
        }
        given = defaults | {name: _plain(value) for name, value in given.items()}
        expected = torch.nn.functional.scaled_dot_product_attention(**given)
        out = torch.empty_like(expected, memory_format=torch.contiguous_format)
        kernels.run(NAME, [*(given[name] for name in names), out], dynamic=[out])
        assert_equal(out, expected, **TOLERANCES[dtype])
        count += 1
    assert count > 10


def _plain(value: object) -> object:
    return value.detach().contiguous() if isinstance(value, torch.Tensor) else value

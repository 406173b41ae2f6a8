# SPDX-License-Identifier: BSD-3-Clause
"""A decoder layer's attention: its tensors, as rushlight::cached_attention takes them, and the same in torch
eager."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch

from support.harness import assert_equal, random_tensor

NAME = "rushlight::cached_attention.out"
CACHES = [torch.float32, torch.float16, torch.int8]

# float32 scores of up to 100 decide over values of up to 2.
CLOSE = {"rtol": 3e-5, "atol": 5e-5}


@dataclass(frozen=True)
class Layer:
    """The sizes of a layer, and the tensors that it has."""

    heads: int = 4
    key_heads: int = 2
    depth: int = 8
    rotary: int = 8
    context: int = 40
    cache: torch.dtype = torch.float32
    norms: bool = False
    interleaved: bool = False
    scale: float = 0.35
    window: int = 0
    softcap: float = 0.0
    eps: float = 1e-5

    @property
    def width(self) -> int:
        return (self.heads + 2 * self.key_heads) * self.depth


@dataclass
class State:
    """The tensors of a layer that persist from call to call."""

    layer: Layer
    tensors: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        layer = self.layer
        shape = (1, layer.key_heads, layer.context, layer.depth)
        angles = random_tensor((layer.context, layer.rotary // 2), torch.float32, low=-4, high=4, seed=3)
        is_int8 = layer.cache == torch.int8
        self.tensors = {
            "key_cache": torch.zeros(shape, dtype=layer.cache),
            "value_cache": torch.zeros(shape, dtype=layer.cache),
            "key_scales": torch.zeros(shape[:3]) if is_int8 else None,
            "value_scales": torch.zeros(shape[:3]) if is_int8 else None,
            "input_pos": torch.zeros(1, dtype=torch.int64),
            "cos": angles.cos(),
            "sin": angles.sin(),
            "query_norm": random_tensor((layer.depth,), torch.float32, low=0.5, high=2, seed=4)
            if layer.norms
            else None,
            "key_norm": random_tensor((layer.depth,), torch.float32, low=0.5, high=2, seed=5)
            if layer.norms
            else None,
        }

    def arguments(self, qkv: torch.Tensor, out: torch.Tensor, /, **changed: Any) -> list[Any]:
        """All arguments of a call, with the `changed` ones replaced."""
        layer = self.layer
        numbers = {
            "eps": layer.eps,
            "heads": layer.heads,
            "key_heads": layer.key_heads,
            "interleaved": layer.interleaved,
            "scale": layer.scale,
            "window": layer.window,
            "softcap": layer.softcap,
        }
        return list(({"qkv": qkv} | self.tensors | numbers | {"out": out} | changed).values())


class Reference:
    """The same layer in torch eager, in float64."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.keys = self.numbers("key")
        self.values = self.numbers("value")

    def numbers(self, name: str) -> torch.Tensor:
        """The values of a cache, dequantized, in float64."""
        found: torch.Tensor = self.state.tensors[f"{name}_cache"][0].double()
        scales = self.state.tensors[f"{name}_scales"]
        return found if scales is None else found * scales[0].double()[..., None]

    def call(self, qkv: torch.Tensor, position: int) -> torch.Tensor:
        """The result for tokens at `position`, after the kernel's call: it takes over the rows of the
        kernel's cache, once they are verified."""
        layer, tensors = self.state.layer, self.state.tensors
        end = position + qkv.shape[1]
        rows = qkv[0].double().unflatten(1, (-1, layer.depth)).transpose(0, 1)
        query, key, value = rows.split([layer.heads, layer.key_heads, layer.key_heads])
        query = self.rotated(query, tensors["query_norm"], position)
        key = self.rotated(key, tensors["key_norm"], position)
        self.keys[:, position:end] = self.held("key", key, position)
        self.values[:, position:end] = self.held("value", value, position)
        group = layer.heads // layer.key_heads
        keys = self.keys[:, :end].repeat_interleave(group, 0)
        values = self.values[:, :end].repeat_interleave(group, 0)
        at, seen = torch.arange(position, end)[:, None], torch.arange(end)[None]
        mask = seen <= at
        if layer.window:
            mask &= seen > at - layer.window
        if layer.softcap:
            scores = layer.softcap * torch.tanh(query @ keys.mT * layer.scale / layer.softcap)
            result = scores.masked_fill(~mask, -math.inf).softmax(-1) @ values
        else:
            result = torch.nn.functional.scaled_dot_product_attention(
                query, keys, values, attn_mask=mask, scale=layer.scale
            )
        return result.transpose(0, 1).reshape(1, end - position, -1).float()

    def held(self, name: str, exact: torch.Tensor, position: int) -> torch.Tensor:
        """The kernel's rows of the cache; fails if they are not `exact`, rounded once."""
        rows = slice(position, position + exact.shape[1])
        found = self.numbers(name)[:, rows]
        largest = exact.abs().amax(-1, keepdim=True)
        error = 1e-6 * largest
        if found.numel() and self.state.layer.cache == torch.int8:
            scales = self.state.tensors[f"{name}_scales"][0, :, rows].double()[..., None]
            assert_equal(scales, largest / 127, rtol=2e-6, atol=0)
            error = error + scales / 2
        elif self.state.layer.cache == torch.float16:
            error = error + exact.abs() * 2**-11 + 2**-25
        assert ((found - exact).abs() <= error).all()
        return found

    def rotated(self, x: torch.Tensor, norm: torch.Tensor | None, position: int) -> torch.Tensor:
        layer, tensors = self.state.layer, self.state.tensors
        if norm is not None:
            x = torch.nn.functional.rms_norm(x, [layer.depth], norm.double(), layer.eps)
        rows = slice(position, position + x.shape[1])
        cos, sin = tensors["cos"][rows].double(), tensors["sin"][rows].double()
        rotated, kept = x[..., : layer.rotary], x[..., layer.rotary :]
        if layer.interleaved:
            a, b = rotated[..., 0::2], rotated[..., 1::2]
            rotated = torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)
        else:
            a, b = rotated.chunk(2, -1)
            rotated = torch.cat([a * cos - b * sin, b * cos + a * sin], -1)
        return torch.cat([rotated, kept], -1)


def tokens_of(layer: Layer, count: int, seed: int = 0) -> torch.Tensor:
    """Rows of queries, keys and values of `count` tokens."""
    return random_tensor((1, count, layer.width), torch.float32, low=-2, high=2, seed=seed)

# SPDX-License-Identifier: BSD-3-Clause
"""Compares the observed values of each quantized tensor with the range of its integers; renders both."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e import HistogramObserver, ObserverBase

from rushlight.errors import InvalidArgument
from rushlight.page import page, table
from rushlight.printable import escaped
from rushlight.quantize.parameters import parameter
from rushlight.quantize.scope import module_stack

_KEY = "rushlight.quantize.ranges"
_BINS = 64
_WIDTH, _HEIGHT = 640, 60


@dataclass(frozen=True)
class TensorRange:
    """One tensor. `low` and `high` are the extreme observed values; `first` and `last` the values of the
    smallest and largest integer; `scale` the step of the coarsest channel. `histogram` has counts of equal
    bins from low to high, empty if the observer has none. `spread` is the ratio of a weight's widest
    channel to its narrowest."""

    name: str
    module: str
    is_weight: bool
    low: float
    high: float
    first: float
    last: float
    scale: float
    histogram: tuple[float, ...] = ()
    spread: float = 1.0

    @property
    def clipped(self) -> float:
        """The share of elements outside the range, by the histogram."""
        total = sum(self.histogram)
        if not total:
            return 0.0
        width = (self.high - self.low) / len(self.histogram)
        slack = max(width, self.scale)  # bins at the edge count as inside
        outside = sum(
            count
            for number, count in enumerate(self.histogram)
            if not self.first - slack <= self.low + (number + 0.5) * width <= self.last + slack
        )
        return outside / total


@dataclass(frozen=True)
class Ranges:
    """The quantized tensors of a graph, in graph order."""

    tensors: tuple[TensorRange, ...]

    def to_json(self) -> list[dict[str, Any]]:
        """The ranges as JSON types."""
        return [{**asdict(each), "clipped": each.clipped} for each in self.tensors]

    def page(self) -> str:
        """An HTML page with a table, and a picture of each tensor."""
        heads = ("tensor", "module", "seen", "range", "step", "clipped", "widest / narrowest channel")
        pictures = [
            f"<h3>{escaped(each.name)} <small>{escaped(each.module)}</small></h3>{_picture(each)}"
            for each in self.tensors
        ]
        legend = "<p>Grey: observed values, with heights as log(count). Blue: the integer range.</p>"
        return page("Ranges", [table(heads, map(_row, self.tensors)), legend, *pictures])


def ranges(graph: GraphModule) -> Ranges:
    """The ranges of a graph from `quantize` or `convert`, or of a prepared one that has seen inputs.

    Errors: InvalidArgument for another graph.
    """
    found = graph.meta.get(_KEY)
    if isinstance(found, Ranges):
        return found
    found = found_ranges(graph)
    if not found.tensors:
        raise InvalidArgument("ranges: expected a graph from rushlight.quantize, got one without ranges")
    return found


def found_ranges(prepared: GraphModule) -> Ranges:
    """The ranges of the observers in a prepared graph, without those whose ranges each execution measures."""
    return Ranges(tuple(_observed(prepared)))


def keep_ranges(graph: GraphModule, found: Ranges) -> None:
    """Stores ranges with a converted graph."""
    graph.meta[_KEY] = found


def _observed(prepared: GraphModule) -> Iterator[TensorRange]:
    seen = set()
    for node in prepared.graph.nodes:
        if node.op != "call_module" or node.target in seen:
            continue
        observer: Any = prepared.get_submodule(str(node.target))
        if isinstance(observer, ObserverBase):
            seen.add(node.target)
            found = _range(prepared, node, observer)
            if found is not None:
                yield found


def _range(prepared: GraphModule, node: Node, observer: Any) -> TensorRange | None:
    low, high = getattr(observer, "min_val", None), getattr(observer, "max_val", None)
    if low is None or high is None or not low.numel() or not bool((low <= high).all()):
        return None
    scale, zero_point = observer.calculate_qparams()
    source = node.all_input_nodes[0]
    weight = parameter(prepared, source)
    owner = next(iter(node.users)) if weight is not None and node.users else source
    stack = module_stack(owner)
    widths = torch.maximum(low.abs(), high.abs())
    bounds = float(low.min()), float(high.max())
    return TensorRange(
        source.name,
        stack[-1][0] if stack else "",
        weight is not None,
        *bounds,
        float(((observer.quant_min - zero_point) * scale).min()),
        float(((observer.quant_max - zero_point) * scale).max()),
        float(scale.max()),
        _histogram(observer, weight, bounds),
        float(widths.max() / widths.min()) if weight is not None and bool(widths.min() > 0) else 1.0,
    )


def _histogram(observer: Any, weight: torch.Tensor | None, bounds: tuple[float, float]) -> tuple[float, ...]:
    if weight is not None and bounds[0] < bounds[1]:
        return tuple(torch.histc(weight.float(), _BINS, *bounds).tolist())
    if isinstance(observer, HistogramObserver):
        counts = observer.histogram
        return tuple(counts.reshape(_BINS, -1).sum(1).tolist()) if len(counts) % _BINS == 0 else ()
    return ()


def _row(each: TensorRange) -> tuple[str, ...]:
    return (
        each.name,
        each.module,
        f"{each.low:.4g} to {each.high:.4g}",
        f"{each.first:.4g} to {each.last:.4g}",
        f"{each.scale:.3g}",
        f"{100 * each.clipped:.3g} %",
        f"{each.spread:.3g}" if each.is_weight else "",
    )


def _picture(each: TensorRange) -> str:
    """Bars for the logarithm of the counts over the values, and a band for the range."""
    left, right = min(each.low, each.first), max(each.high, each.last)
    width = (right - left) or 1.0

    def x(number: float) -> float:
        return _WIDTH * (number - left) / width

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT + 18}" font-size="11">']
    parts.append(
        f'<rect x="{x(each.first):.1f}" y="{_HEIGHT}" width="{x(each.last) - x(each.first):.1f}" '
        'height="4" fill="#3b6ea5"/>'
    )
    most = math.log1p(max(each.histogram, default=0.0)) or 1.0
    bar = (x(each.high) - x(each.low)) / max(len(each.histogram), 1)
    for number, count in enumerate(each.histogram):
        tall = _HEIGHT * math.log1p(count) / most
        parts.append(
            f'<rect x="{x(each.low) + number * bar:.1f}" y="{_HEIGHT - tall:.1f}" width="{bar:.2f}" '
            f'height="{tall:.1f}" fill="#999"/>'
        )
    if not each.histogram:
        parts.append(
            f'<rect x="{x(each.low):.1f}" y="{_HEIGHT - 4}" width="{x(each.high) - x(each.low):.1f}" '
            'height="4" fill="#999"/>'
        )
    parts.append(f'<text x="0" y="{_HEIGHT + 16}">{left:.4g}</text>')
    parts.append(f'<text x="{_WIDTH}" y="{_HEIGHT + 16}" text-anchor="end">{right:.4g}</text></svg>')
    return "\n".join(parts)

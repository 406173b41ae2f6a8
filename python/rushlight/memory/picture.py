# SPDX-License-Identifier: BSD-3-Clause
"""Draws plans as SVG: time to the right, offsets upwards, a rectangle per tensor."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass

from rushlight.memory.report import gap, live_bytes, requests_of
from rushlight.memory.requests import BankUse, Placement, Plan, Request

_STYLE = """
text { font: 12px system-ui, sans-serif; fill: #222 }
.title { font-weight: 600; font-size: 14px }
.axis { stroke: #888; stroke-width: 1; fill: none }
.label { font-size: 10px; fill: #111; pointer-events: none }
.tensor { stroke: #fff; stroke-width: 0.5 }
.tensor:hover { stroke: #000; stroke-width: 2 }
.live { stroke: #111; stroke-width: 1.5; fill: none }
.bound { stroke: #c00; stroke-width: 1.5; stroke-dasharray: 6 4; fill: none }
.page { fill: #fff }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd } .page { fill: #181818 } .tensor { stroke: #181818 } .live { stroke: #fff }
  .tensor:hover { stroke: #fff } .bound { stroke: #ff6b6b }
}
"""
_LEFT, _RIGHT, _TOP, _BOTTOM = 90.0, 20.0, 44.0, 40.0
_TALLEST, _LOWEST = 420.0, 90.0
_NARROWEST, _WIDEST = 1000.0, 6000.0


def picture(plans: Mapping[str, Plan]) -> str:
    """An SVG with one panel for each bank in use; `plans` are keyed by method name.

    A tooltip shows a tensor's name, bytes, offset, lifetime and source. The solid line is the bytes alive
    at each instruction, the dashed line their maximum, the lower bound. The SVG is self-contained and
    follows the viewer's light or dark theme.
    """
    used = [(name, plan, use) for name, plan in plans.items() for use in plan.banks if use.size]
    most = max((use.size for _, _, use in used), default=1)
    steps = max((_end(plan) - _begin(plan) for _, plan, _ in used), default=1)
    width = min(max(_NARROWEST, 4.0 * steps), _WIDEST)
    svg = ET.Element("svg", xmlns="http://www.w3.org/2000/svg")
    ET.SubElement(svg, "style").text = _STYLE
    page = ET.SubElement(svg, "path", {"class": "page"})
    top = 0.0
    for name, plan, use in used:
        height = max(_LOWEST, _TALLEST * use.size / most)
        panel = _Panel(plan, use, top + _TOP, width, height)
        svg.append(panel.drawn(name))
        top += _TOP + height + _BOTTOM
    whole = _LEFT + width + _RIGHT
    page.set("d", f"M0 0H{whole:g}V{top:g}H0Z")
    svg.set("viewBox", f"0 0 {whole:g} {top:g}")
    svg.set("width", f"{whole:g}")
    svg.set("height", f"{top:g}")
    return ET.tostring(svg, encoding="unicode") + "\n"


def _begin(plan: Plan) -> int:
    return min((request.first for request in plan.requests), default=0)


def _end(plan: Plan) -> int:
    return max((request.last for request in plan.requests), default=0) + 1


@dataclass(frozen=True)
class _Panel:
    """One bank of one plan, from `top` down, in the picture's units."""

    plan: Plan
    use: BankUse
    top: float
    width: float
    height: float

    def drawn(self, method: str) -> ET.Element:
        """The panel's title, axes, tensors and lines."""
        group = ET.Element("g")
        _write(group, _LEFT, self.top - 26, self._heading(method), "title")
        self._axes(group)
        pairs = zip(self.plan.requests, self.plan.placements, strict=True)
        here = [pair for pair in pairs if pair[1].bank == self.use.bank.id]
        for index, (request, placement) in enumerate(here):
            self._tensor(group, request, placement, index)
        ET.SubElement(group, "path", {"class": "live", "d": self._live_line()})
        bound = self._y(self.use.lower_bound)
        ET.SubElement(group, "path", {"class": "bound", "d": f"M{_LEFT:g} {bound:.1f}h{self.width:g}"})
        return group

    def _heading(self, method: str) -> str:
        use = self.use
        size = f" of {use.bank.size:,}" if use.bank.size is not None else ""
        text = f"{method}, {use.bank.name}: {use.size:,}{size} bytes, lower bound {use.lower_bound:,}"
        return f"{text}; whole plan {self.plan.peak:,}, gap {gap(self.plan)}"

    def _x(self, instruction: int) -> float:
        begin, end = _begin(self.plan), _end(self.plan)
        return _LEFT + self.width * (instruction - begin) / (end - begin)

    def _y(self, offset: int) -> float:
        return self.top + self.height * (1 - offset / self.use.size)

    def _tensor(self, group: ET.Element, request: Request, placement: Placement, index: int) -> None:
        left, right = self._x(request.first), self._x(request.last + 1)
        high, low = self._y(placement.offset + request.nbytes), self._y(placement.offset)
        geometry = {"x": left, "y": high, "width": right - left, "height": low - high}
        hue = index * 137.508 % 360  # the golden angle makes neighbours differ
        lightness = 62 + index * 7 % 15
        attributes = {key: f"{value:.2f}" for key, value in geometry.items()}
        attributes |= {"class": "tensor", "fill": f"hsl({hue:.0f},60%,{lightness}%)"}
        rectangle = ET.SubElement(group, "rect", attributes)
        title = f"{request.name}\n{request.nbytes:,} bytes at {placement.offset:,}"
        title += f"\ninstructions {request.first} to {request.last}"
        ET.SubElement(rectangle, "title").text = _clean(f"{title}\n{request.note}".rstrip())
        letters = int((right - left - 6) / 5.5)
        if letters >= 4 and low - high >= 12:
            name = request.name if len(request.name) <= letters else f"{request.name[: letters - 1]}…"
            _write(group, left + 3, (high + low) / 2 + 3.5, name, "label")

    def _live_line(self) -> str:
        steps = live_bytes(requests_of(self.plan, self.use.bank.id))
        moves = "".join(f"H{self._x(at):.2f}V{self._y(live):.2f}" for at, live in steps)
        return f"M{_LEFT:g} {self._y(0):.2f}{moves}"

    def _axes(self, group: ET.Element) -> None:
        bottom = self.top + self.height
        corner = f"M{_LEFT:g} {self.top:g}V{bottom:g}h{self.width:g}"
        ET.SubElement(group, "path", {"class": "axis", "d": corner})
        for offset in _ticks(0, self.use.size, self.height / 50):
            text = _write(group, _LEFT - 6, self._y(offset) + 4, f"{offset:,}", "")
            text.set("text-anchor", "end")
        for instruction in _ticks(_begin(self.plan), _end(self.plan), self.width / 120):
            _write(group, self._x(instruction), bottom + 16, str(instruction), "")
        _write(group, _LEFT + self.width - 70, bottom + 32, "instruction", "")


def _ticks(low: int, high: int, count: float) -> range:
    """About `count` round values from `low` to `high`, in steps of 1, 2 or 5 times a power of ten."""
    least = max((high - low) / max(count, 1), 1)
    power = 1
    while power * 10 <= least:
        power *= 10
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least)
    return range(-(-low // step) * step, high + 1, step)


def _write(group: ET.Element, x: float, y: float, content: str, kind: str) -> ET.Element:
    element = ET.SubElement(group, "text", {"x": f"{x:.2f}", "y": f"{y:.2f}"})
    if kind:
        element.set("class", kind)
    element.text = _clean(content)
    return element


def _clean(content: str) -> str:
    """The text without characters that XML cannot hold."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in content)

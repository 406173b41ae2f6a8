# SPDX-License-Identifier: BSD-3-Clause
"""Plots of the report, as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from contestants import CONTESTANTS
from results import OURS, Row

_COLORS = {
    "rushlight": "#2f6f9f",
    "rushlight, official program": "#8fb8d8",
    "rushlight, lowered program": "#5f8fb0",
    "ONNX Runtime": "#c2703d",
    "torch eager": "#b9a23a",
    "ExecuTorch XNNPACK": "#6f9f5f",
    "ExecuTorch": "#b9c0c8",
    "copy": "#1b1f24",
}
_LEFT, _FULL, _RIGHT = 220, 520, 60
_LEAST, _MOST = 0.25, 64.0  # ratios beyond are drawn at the edge


def _frame(height: int, parts: Sequence[str]) -> str:
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _FULL + _RIGHT}" height="{height}" '
            'font-family="system-ui, sans-serif" font-size="12" fill="#1b1f24">',
            '<rect width="100%" height="100%" fill="#fff"/>',
            *parts,
            "</svg>",
        ]
    )


def _legend(names: Sequence[str]) -> list[str]:
    parts, x = [], 8
    for name in names:
        parts.append(f'<circle cx="{x + 5}" cy="12" r="5" fill="{_COLORS[name]}"/>')
        parts.append(f'<text x="{x + 14}" y="16">{escape(name)}</text>')
        x += 28 + round(7 * len(name))
    return parts


def ratios_svg(rows: Sequence[Row], clock: str) -> str:
    """A line for each subject: a bar for our ratio to the fastest peer, a dot for every contestant's."""

    def x(ratio: float) -> float:
        share = math.log(min(max(ratio, _LEAST), _MOST) / _LEAST) / math.log(_MOST / _LEAST)
        return _LEFT + _FULL * share

    names = [name for name in CONTESTANTS if name != "copy" and any(name in row.timings for row in rows)]
    bottom = 52 + 20 * len(rows)
    parts = _legend(names)
    for mark in (0.25, 0.5, 1, 2, 4, 8, 16, 32, 64):
        color = "#1b1f24" if mark == 1 else "#e2e6ea"
        parts.append(f'<line x1="{x(mark):.1f}" x2="{x(mark):.1f}" y1="40" y2="{bottom}" stroke="{color}"/>')
        parts.append(f'<text x="{x(mark):.1f}" y="36" text-anchor="middle" fill="#667080">{mark:g}×</text>')
    for index, row in enumerate(rows):
        y = 56 + 20 * index
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{escape(row.name)}</text>')
        for name in reversed(names):
            ratio = row.ratio(clock, name)
            if ratio is None:
                continue
            if name == OURS:
                left, right = sorted((x(1.0), x(ratio)))
                width = max(right - left, 1.0)
                parts.append(
                    f'<rect x="{left:.1f}" y="{y - 6}" width="{width:.1f}" height="12" '
                    f'fill="{_COLORS[name]}" fill-opacity="0.35"/>'
                )
            title = f"<title>{escape(name)}: {ratio:.2f}×</title>"
            parts.append(
                f'<circle cx="{x(ratio):.1f}" cy="{y}" r="4" fill="{_COLORS[name]}">{title}</circle>'
            )
    return _frame(bottom + 12, parts)


def _shares(row: Row, clock: str, peak: float) -> dict[str, float]:
    """Each contestant's share of the peak, or of the bandwidth of a copy of the same bytes."""
    copy = row.timings.get("copy")
    if row.kind == "memory":
        return {
            name: copy.of(clock) / t.of(clock) for name, t in row.timings.items() if copy and name != "copy"
        }
    if not peak:
        return {}
    return {name: row.flops / t.of(clock) / 1e9 / peak for name, t in row.timings.items() if name != "copy"}


def roofline_svg(rows: Sequence[Row], clock: str, peak: float) -> str:
    """A line for each operator: the share of the peak of multiply-adds, or of a copy's bandwidth; a bar for
    us, a dot for every other contestant."""
    names = [name for name in CONTESTANTS if name != "copy" and any(name in row.timings for row in rows)]
    longest = 1.25  # cached data may move faster than in a copy

    def x(share: float) -> float:
        return _LEFT + _FULL * min(share, longest) / longest

    bottom = 52 + 20 * len(rows)
    parts = _legend(names)
    for mark in (0.0, 0.25, 0.5, 0.75, 1.0):
        color = "#1b1f24" if mark == 1 else "#e2e6ea"
        parts.append(f'<line x1="{x(mark):.1f}" x2="{x(mark):.1f}" y1="40" y2="{bottom}" stroke="{color}"/>')
        parts.append(
            f'<text x="{x(mark):.1f}" y="36" text-anchor="middle" fill="#667080">{100 * mark:.0f} %</text>'
        )
    for index, row in enumerate(rows):
        y = 56 + 20 * index
        what = "copy bandwidth" if row.kind == "memory" else "peak"
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{escape(row.name)}</text>')
        for name, share in reversed(_shares(row, clock, peak).items()):
            title = f"<title>{escape(name)}: {100 * share:.0f} % of {what}</title>"
            if name == OURS:
                parts.append(
                    f'<rect x="{_LEFT}" y="{y - 6}" width="{x(share) - _LEFT:.1f}" height="12" '
                    f'fill="{_COLORS[name]}" fill-opacity="0.6">{title}</rect>'
                )
            else:
                parts.append(
                    f'<circle cx="{x(share):.1f}" cy="{y}" r="4" fill="{_COLORS[name]}">{title}</circle>'
                )
    return _frame(bottom + 12, parts)

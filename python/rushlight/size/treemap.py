# SPDX-License-Identifier: BSD-3-Clause
"""Draws flash as a treemap: areas are bytes; components hold files, files hold symbols."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rushlight.printable import escaped
from rushlight.size.linked import base_name
from rushlight.size.report import SizeReport

WIDTH, HEIGHT = 1200.0, 720.0
_HEAD = 15.0  # height of a component's title
_LEAST = 0.4  # the smallest visible side in pixels

_COLORS = (
    ("runtime/", "#4f7cac"),
    ("kernels/", "#5b9a68"),
    ("generated", "#8f6aae"),
    ("baked", "#8f6aae"),
    ("startup", "#c98b3c"),
    ("C library", "#8a8a8a"),
    ("compiler", "#6c6f75"),
    ("model", "#b0585f"),
    ("application", "#3f9aa3"),
)
_OTHER = "#a8a29a"
_STYLE = """
.paper { fill: #fff } .box { stroke: #fff } .title { fill: #222 }
@media (prefers-color-scheme: dark) {
  .paper { fill: #17171b } .box { stroke: #17171b } .title { fill: #e6e6ea }
}
"""


@dataclass
class Node:
    """`bytes` is the sum of the children, if there are any."""

    name: str
    bytes: int = 0
    children: dict[str, Node] = field(default_factory=dict)

    def add(self, path: Sequence[str], size: int) -> None:
        self.bytes += size
        if path:
            self.children.setdefault(path[0], Node(path[0])).add(path[1:], size)


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float


def flash_tree(report: SizeReport) -> Node:
    """The tree of components, their files, and their symbols."""
    root = Node(report.target or "flash")
    for entry in report.entries:
        if entry.flash:
            root.add((entry.component, entry.file or entry.component, entry.symbol), entry.flash)
    return root


def squarified(sizes: Sequence[float], box: Box) -> list[Box]:
    """A box for each size, with proportional areas and sides as equal as possible, by filling rows along the
    shorter side (squarified treemap). `sizes` are positive and descending."""
    boxes: list[Box] = []
    total = sum(sizes)
    if total <= 0 or box.width <= 0 or box.height <= 0:
        return [Box(box.x, box.y, 0, 0)] * len(sizes)
    areas = [size / total * box.width * box.height for size in sizes]
    at = 0
    while at < len(areas):
        side = min(box.width, box.height)
        count = 1
        while at + count < len(areas) and _worst(areas[at : at + count + 1], side) <= _worst(
            areas[at : at + count], side
        ):
            count += 1
        row = areas[at : at + count]
        placed, box = _lay_row(row, box)
        boxes += placed
        at += count
    return boxes


def _worst(row: Sequence[float], side: float) -> float:
    """The worst aspect ratio in a row."""
    thickness = sum(row) / side
    return max(max(thickness**2 / area, area / thickness**2) for area in row if area > 0)


def _lay_row(row: Sequence[float], box: Box) -> tuple[list[Box], Box]:
    """The boxes of a row along the shorter side, and the remaining box."""
    placed = []
    upright = box.width >= box.height
    thickness = sum(row) / (box.height if upright else box.width)
    at = box.y if upright else box.x
    for area in row:
        length = area / thickness
        placed.append(Box(box.x, at, thickness, length) if upright else Box(at, box.y, length, thickness))
        at += length
    if upright:
        return placed, Box(box.x + thickness, box.y, max(box.width - thickness, 0), box.height)
    return placed, Box(box.x, box.y + thickness, box.width, max(box.height - thickness, 0))


def treemap_svg(report: SizeReport) -> str:
    """An SVG document; each rectangle has its name and bytes as a tooltip."""
    root = flash_tree(report)
    title = f"{report.target or report.executable}: {report.flash:,} bytes of flash"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {HEIGHT + 24:g}" '
        'font-family="system-ui, sans-serif" font-size="11">',
        f"<style>{_STYLE}</style>",
        f'<rect class="paper" width="{WIDTH:g}" height="{HEIGHT + 24:g}"/>',
        f'<text class="title" x="4" y="16" font-size="14">{escaped(title)}</text>',
    ]
    for component, box in _boxes(root, Box(0, 24, WIDTH, HEIGHT)):
        parts += _component(component, box)
    return "\n".join([*parts, "</svg>\n"])


def _boxes(node: Node, box: Box) -> Iterator[tuple[Node, Box]]:
    children = sorted(node.children.values(), key=lambda child: (-child.bytes, child.name))
    placed = squarified([child.bytes for child in children], box)
    for child, child_box in zip(children, placed, strict=True):
        if child_box.width >= _LEAST and child_box.height >= _LEAST:
            yield child, child_box


def _component(component: Node, box: Box) -> Iterator[str]:
    color = next((color for start, color in _COLORS if component.name.startswith(start)), _OTHER)
    yield _rectangle(box, color, f"{component.name}: {component.bytes:,} bytes", width=2)
    head = _HEAD if box.height > 3 * _HEAD and box.width > 40 else 0.0
    if head:
        yield _text(f"{component.name} {component.bytes:,}", box, 11, "bold")
    inner = Box(box.x + 2, box.y + head + 1, max(box.width - 4, 0), max(box.height - head - 3, 0))
    for file, file_box in _boxes(component, inner):
        yield _rectangle(
            file_box,
            color,
            f"{component.name} / {file.name}: {file.bytes:,} bytes",
            width=1.2,
        )
        for symbol, symbol_box in _boxes(file, file_box):
            hint = f"{file.name}\n{symbol.name}: {symbol.bytes:,} bytes"
            yield _rectangle(symbol_box, color, hint, width=0.4)
            if symbol_box.width > 70 and symbol_box.height > 32:
                name = base_name(symbol.name).rpartition("::")[2]
                yield _text(
                    name,
                    Box(symbol_box.x, symbol_box.y + symbol_box.height - 14, symbol_box.width, 14),
                    9,
                    "normal",
                )
        if file_box.width > 60 and file_box.height > 14:
            yield _text(f"{file.name.rpartition('/')[2]} {file.bytes:,}", file_box, 10, "normal")


def _rectangle(box: Box, color: str, hint: str, *, width: float) -> str:
    return (
        f'<rect class="box" x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" fill="{color}" stroke-width="{width:g}">'
        f"<title>{escaped(hint)}</title></rect>"
    )


def _text(text: str, box: Box, size: int, weight: str) -> str:
    fitting = int(box.width / (size * 0.58))
    shown = text if len(text) <= fitting else text[: max(fitting - 1, 0)] + "…"
    return (
        f'<text x="{box.x + 3:.1f}" y="{box.y + size:.1f}" font-size="{size}" font-weight="{weight}" '
        f'fill="#ffffff" pointer-events="none">{escaped(shown)}</text>'
    )

# SPDX-License-Identifier: BSD-3-Clause
"""Draws the results as one SVG: every held-out image with the misread ones marked, and the sizes on each
target."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from html import escape

import numpy as np
from measure import Measurement

_COLUMNS = 10
_CELL = 36
_MARGIN = 24
_TOP = 64
_BAR = 300
_INK, _QUIET, _WRONG, _FLASH, _MODEL, _RAM = "#1b1f24", "#667080", "#c4314b", "#2f6f9f", "#9cc3de", "#d08a2e"


def draw(
    images: Sequence[np.ndarray],
    labels: Sequence[int],
    measurements: Sequence[Measurement],
    costs: Sequence[str],
) -> str:
    """The SVG document. `images` are [8, 8] from 0 to 1; the marks are the first measurement's errors."""
    first = measurements[0]
    rows = -(-len(images) // _COLUMNS)
    left = 2 * _MARGIN + _COLUMNS * _CELL
    width = left + _BAR + 190
    height = max(_TOP + rows * _CELL, _TOP + 96 * len(measurements)) + _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" font-size="13" fill="{_INK}">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        _text(_MARGIN, 30, "Held-out digits", size=18),
        _text(_MARGIN, 50, f"{first.correct} of {first.images} right; a mark shows what was read", _QUIET),
        _text(left, 30, "One program, several targets", size=18),
        _text(left, 50, "kB of flash (code, model) and RAM (static data, arenas)", _QUIET),
        _mosaic(images, rows),
        *_marks(first.predictions, labels),
        *_targets(left, measurements, costs),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _text(x: float, y: float, text: str, color: str = _INK, size: int = 13) -> str:
    return f'<text x="{x}" y="{y}" fill="{color}" font-size="{size}">{escape(text)}</text>'


def _mosaic(images: Sequence[np.ndarray], rows: int) -> str:
    """All images as one PNG of a pixel per pixel, scaled up with hard edges."""
    side = images[0].shape[0]
    pitch = side + 1  # one white pixel between images
    canvas = np.full((rows * pitch, _COLUMNS * pitch), 255, np.uint8)
    for index, image in enumerate(images):
        row, column = divmod(index, _COLUMNS)
        ink = np.round(255 * (1 - image)).astype(np.uint8)
        canvas[row * pitch : row * pitch + side, column * pitch : column * pitch + side] = ink
    data = base64.b64encode(_png(canvas)).decode()
    return (
        f'<image x="{_MARGIN}" y="{_TOP}" width="{_COLUMNS * _CELL}" height="{rows * _CELL}" '
        f'style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>'
    )


def _png(gray: np.ndarray) -> bytes:
    """An 8-bit greyscale PNG of [height, width] uint8."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = gray.shape
    header = struct.pack(">2I5B", width, height, 8, 0, 0, 0, 0)
    rows = b"".join(b"\0" + row.tobytes() for row in gray)
    signature = b"\x89PNG\r\n\x1a\n"
    return signature + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def _marks(predictions: Sequence[int], labels: Sequence[int]) -> list[str]:
    """A frame around each wrong answer, with the digit it was taken for."""
    parts = []
    for index, (guess, label) in enumerate(zip(predictions, labels, strict=True)):
        if guess != label:
            x = _MARGIN + index % _COLUMNS * _CELL
            y = _TOP + index // _COLUMNS * _CELL
            side = _CELL * 8 / 9
            frame = f'fill="none" stroke="{_WRONG}" stroke-width="2"'
            parts.append(f'<rect x="{x}" y="{y}" width="{side}" height="{side}" {frame}/>')
            parts.append(f'<rect x="{x}" y="{y}" width="11" height="14" fill="{_WRONG}"/>')
            parts.append(_text(x + 2, y + 12, str(guess), "#fff"))
    return parts


def _targets(left: int, measurements: Sequence[Measurement], costs: Sequence[str]) -> list[str]:
    largest = max(max(m.flash + m.model, m.ram) for m in measurements)
    scale = _BAR / largest
    parts = []
    for index, (m, cost) in enumerate(zip(measurements, costs, strict=True)):
        y = _TOP + 16 + 96 * index
        verdict = "as PyTorch" if m.passed else "differs from PyTorch"
        parts.append(_text(left, y, f"{m.target}: {m.correct} of {m.images} right, {verdict}", size=15))
        parts.append(_text(left, y + 18, f"{cost} an image, built in {m.build_seconds:.1f} s", _QUIET))
        parts += _bar(left, y + 28, [(m.flash, _FLASH), (m.model, _MODEL)], scale, "flash")
        parts += _bar(left, y + 48, [(m.ram, _RAM)], scale, "RAM")
    return parts


def _bar(x: float, y: float, pieces: Sequence[tuple[int, str]], scale: float, name: str) -> list[str]:
    """Sizes end to end, then their sum in words."""
    parts = []
    for size, color in pieces:
        parts.append(f'<rect x="{x:.1f}" y="{y}" width="{size * scale:.1f}" height="14" fill="{color}"/>')
        x += size * scale
    numbers = " + ".join(f"{size / 1000:.1f}" for size, _ in pieces)
    return [*parts, _text(round(x + 8, 1), y + 12, f"{numbers} kB {name}", _QUIET)]

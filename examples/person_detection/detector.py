# SPDX-License-Identifier: BSD-3-Clause
"""The detector around its network: pixels, the choice of probable boxes, and suppression of overlaps.

A box is [left, top, right, bottom] in pixels of the picture.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image

SIDE = 300
"""Width and height that the network takes."""
PROBABLE = 0.4
"""Least probability of a person: README.md has what it finds and misses."""
OVERLAP = 0.5
"""Suppression drops the less probable of two boxes whose intersection divided by union is larger."""


@dataclass(frozen=True)
class People:
    """Boxes [n, 4] and probabilities [n], the most probable first."""

    boxes: np.ndarray
    scores: np.ndarray


def pixels(picture: Image.Image) -> np.ndarray:
    """The RGB picture, stretched to a square, as float32 [1, 3, 300, 300] from -1 to 1."""
    square = np.asarray(picture.resize((SIDE, SIDE), Image.Resampling.BILINEAR), np.float32)
    return np.ascontiguousarray((square / 127.5 - 1).transpose(2, 0, 1)[None])


def overlaps(box: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The area shared with each other box, divided by the area of the union."""
    corners = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    shared = np.prod(corners.clip(0), axis=1)
    areas = np.prod(others[:, 2:] - others[:, :2], axis=1)
    shares: np.ndarray = shared / (np.prod(box[2:] - box[:2]) + areas - shared)
    return shares


def suppress(boxes: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Indices of the boxes that overlap no better one by more than OVERLAP, best first."""
    left, kept = np.argsort(-scores, kind="stable"), []
    while len(left):
        kept.append(left[0])
        rest = left[1:]
        left = rest[overlaps(boxes[left[0]], boxes[rest]) <= OVERLAP]
    return np.array(kept, int)


def people(boxes: np.ndarray, scores: np.ndarray, width: int, height: int) -> People:
    """The people of a picture by the network's outputs: boxes [1, n, 4] from 0 to 1, and scores [1, n]."""
    probable = np.flatnonzero(scores[0] >= PROBABLE)
    edges, found = boxes[0, probable].clip(0, 1) * [width, height, width, height], scores[0, probable]
    kept = suppress(edges, found)
    return People(edges[kept], found[kept])

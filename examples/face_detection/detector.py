# SPDX-License-Identifier: BSD-3-Clause
"""MTCNN around its three networks: a pyramid of pictures, proposals, crops, and suppression of overlaps.

The networks are called through a function, so they can run anywhere. A box is [left, top, right, bottom] in
pixels of the picture.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

Evaluate = Callable[[str, Sequence[np.ndarray]], list[list[np.ndarray]]]
"""Takes a method's name and the inputs of its calls; returns the outputs of each call."""

CELL, STRIDE = 12, 2
STEP = 0.709
"""Each picture of the pyramid has half as many pixels as the one before."""
THRESHOLDS = {"pnet": 0.6, "rnet": 0.7, "onet": 0.7}


@dataclass(frozen=True)
class Faces:
    """Boxes [n, 4], probabilities [n], and five points [n, 5, 2] of eyes, nose and mouth."""

    boxes: np.ndarray
    scores: np.ndarray
    points: np.ndarray


def pixels(picture: Image.Image, width: int, height: int) -> np.ndarray:
    """The picture in that size as float32 [1, 3, height, width] from -1 to 1, averaged over areas."""
    small = np.asarray(picture.resize((width, height), Image.Resampling.BOX), np.float32)
    return np.ascontiguousarray(((small - 127.5) / 128).transpose(2, 0, 1)[None])


def crop(picture: Image.Image, box: np.ndarray, side: int) -> np.ndarray:
    """The square `box` of the picture in side × side pixels; outside of the picture is black."""
    edges = np.round(box).astype(int)
    return pixels(picture.crop(tuple(int(edge) for edge in edges)), side, side)


def overlaps(box: np.ndarray, others: np.ndarray, of_smaller: bool) -> np.ndarray:
    """The shared area divided by the union, or by the smaller box."""
    corners = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    shared = np.prod(corners.clip(0), axis=1)
    areas = np.prod(others[:, 2:] - others[:, :2], axis=1)
    area = np.prod(box[2:] - box[:2])
    whole: np.ndarray = np.minimum(area, areas) if of_smaller else area + areas - shared
    return shared / whole


def suppress(boxes: np.ndarray, scores: np.ndarray, most: float, of_smaller: bool = False) -> np.ndarray:
    """Indices of the boxes that overlap no better one by more than `most`, best first."""
    left, kept = np.argsort(-scores, kind="stable"), []
    while len(left):
        kept.append(left[0])
        rest = left[1:]
        left = rest[overlaps(boxes[left[0]], boxes[rest], of_smaller) <= most]
    return np.array(kept, int)


def moved(boxes: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Boxes with each edge moved by an offset in units of their width or height."""
    size = boxes[:, 2:] - boxes[:, :2]
    return boxes + offsets * np.concatenate([size, size], axis=1)


def squares(boxes: np.ndarray) -> np.ndarray:
    """Squares around the same centers, as large as the longer side."""
    center = (boxes[:, :2] + boxes[:, 2:]) / 2
    half = (boxes[:, 2:] - boxes[:, :2]).max(axis=1, keepdims=True) / 2
    return np.concatenate([center - half, center + half], axis=1)


def pyramid(width: int, height: int, smallest_face: int) -> list[tuple[int, int]]:
    """Even sizes of the pictures for P-Net: in the first a face of `smallest_face` pixels fills a cell."""
    sizes, scale = [], CELL / smallest_face
    while min(width, height) * scale >= CELL + STRIDE:
        sizes.append((2 * round(width * scale / 2), 2 * round(height * scale / 2)))
        scale *= STEP
    return sizes


def proposals(picture: Image.Image, evaluate: Evaluate, smallest_face: int) -> np.ndarray:
    """Square boxes that P-Net takes for faces."""
    sizes = pyramid(*picture.size, smallest_face)
    outputs = evaluate("pnet", [pixels(picture, *size) for size in sizes])
    found, certain = [np.zeros((0, 4))], [np.zeros(0)]
    for (width, height), (faces, offsets) in zip(sizes, outputs, strict=True):
        rows, columns = np.nonzero(faces[0, 1] >= THRESHOLDS["pnet"])
        corners = STRIDE * np.stack([columns, rows, columns, rows], axis=1) + [1, 1, CELL, CELL]
        shrunk = np.array(picture.size * 2) / [width, height, width, height]
        boxes, scores = corners * shrunk, faces[0, 1, rows, columns]
        kept = suppress(boxes, scores, 0.5)
        found.append(moved(boxes, offsets[0][:, rows, columns].T)[kept])
        certain.append(scores[kept])
    boxes, scores = np.concatenate(found), np.concatenate(certain)
    return squares(boxes[suppress(boxes, scores, 0.7)])


def refined(
    picture: Image.Image, boxes: np.ndarray, net: str, side: int, evaluate: Evaluate
) -> tuple[np.ndarray, np.ndarray, list[list[np.ndarray]]]:
    """Returns the boxes that a network accepts as faces, their probabilities, and all its outputs."""
    outputs = evaluate(net, [crop(picture, box, side) for box in boxes])
    scores = np.array([each[0][0, 1] for each in outputs])
    kept = np.flatnonzero(scores >= THRESHOLDS[net])
    return boxes[kept], scores[kept], [outputs[i] for i in kept]


def detect(picture: Image.Image, evaluate: Evaluate, smallest_face: int = 20) -> Faces:
    """The faces of an RGB picture."""
    boxes = proposals(picture, evaluate, smallest_face)
    boxes, scores, outputs = refined(picture, boxes, "rnet", 24, evaluate)
    offsets = np.array([each[1][0] for each in outputs]).reshape(-1, 4)
    kept = suppress(boxes, scores, 0.7)
    boxes = squares(moved(boxes[kept], offsets[kept]))

    boxes, scores, outputs = refined(picture, boxes, "onet", 48, evaluate)
    offsets = np.array([each[1][0] for each in outputs]).reshape(-1, 4)
    points = np.array([each[2][0] for each in outputs]).reshape(-1, 2, 5).transpose(0, 2, 1)
    points = boxes[:, None, :2] + points * (boxes[:, 2:] - boxes[:, :2])[:, None]
    boxes = moved(boxes, offsets)
    kept = suppress(boxes, scores, 0.7, of_smaller=True)
    return Faces(boxes[kept], scores[kept], points[kept])

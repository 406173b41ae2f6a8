# SPDX-License-Identifier: BSD-3-Clause
"""Calibration inputs from files, whole and damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")

from rushlight.errors import InvalidArgument  # noqa: E402
from rushlight.quantize.calibration import read_batches  # noqa: E402

IMAGE = (torch.zeros(1, 3, 4, 4),)
PAIR = (torch.zeros(2, 3), torch.zeros(2, dtype=torch.int64))


def shapes(batches: list[tuple[torch.Tensor, ...]]) -> list[list[tuple[int, ...]]]:
    return [[tuple(each.shape) for each in batch] for batch in batches]


@pytest.mark.parametrize("shape", [(5, 3, 4, 4), (5, 1, 3, 4, 4)])
def test_an_array_has_several_inputs_along_its_first_dimension(
    tmp_path: Path, shape: tuple[int, ...]
) -> None:
    array = np.random.default_rng(0).random(shape, np.float32)
    np.save(tmp_path / "images.npy", array)
    batches = read_batches(tmp_path / "images.npy", IMAGE)
    assert shapes(batches) == [[(1, 3, 4, 4)]] * 5
    np.testing.assert_array_equal(batches[3][0].numpy().ravel(), array[3].ravel())


def test_a_file_of_arrays_has_one_for_each_input_in_their_order(tmp_path: Path) -> None:
    np.savez(tmp_path / "pairs.npz", tokens=np.zeros((6, 3), np.float32), ages=np.arange(6))
    batches = read_batches(tmp_path / "pairs.npz", PAIR)
    assert shapes(batches) == [[(2, 3), (2,)]] * 3
    assert batches[2][1].tolist() == [4, 5]


def test_a_folder_has_files_by_name(tmp_path: Path) -> None:
    for name, value in (("b", 2.0), ("a", 1.0)):
        np.save(tmp_path / f"{name}.npy", np.full((1, 3, 4, 4), value, np.float32))
    (tmp_path / "notes.txt").write_text("not an array")
    assert [float(batch[0].max()) for batch in read_batches(tmp_path, IMAGE)] == [1.0, 2.0]


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nbatches = [(torch.ones(1, 3, 4, 4),)] * 2\n",
        "import torch\nbatches = (torch.ones(1, 3, 4, 4) for _ in range(2))\n",
        "import torch\ndef batches():\n    for _ in range(2):\n        yield [torch.ones(1, 3, 4, 4)]\n",
    ],
)
def test_a_python_file_has_batches(tmp_path: Path, text: str) -> None:
    (tmp_path / "data.py").write_text(text)
    assert shapes(read_batches(tmp_path / "data.py", IMAGE)) == [[(1, 3, 4, 4)]] * 2


def test_sizes_may_differ_where_the_model_has_dynamic_ones(tmp_path: Path) -> None:
    np.save(tmp_path / "long.npy", np.zeros((7, 5), np.float32))
    example = (torch.zeros(2, 5),)
    assert shapes(read_batches(tmp_path / "long.npy", example, any_size=True)) == [[(7, 5)]]
    with pytest.raises(InvalidArgument, match=r"expected \[2, 5\], or several .* got \[7, 5\]"):
        read_batches(tmp_path / "long.npy", example)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((2, 3, 4, 4)), "expected float32, got float64"),
        (np.zeros((2, 4, 4, 3), np.float32), r"expected \[1, 3, 4, 4\], or several .* got \[2, 4, 4, 3\]"),
        (np.zeros((), np.float32), r"expected \[1, 3, 4, 4\], or several .* got \[\]"),
        (np.full((1, 3, 4, 4), np.nan, np.float32), "expected finite numbers, got NaN or infinity"),
        (np.zeros((0, 3, 4, 4), np.float32), "expected calibration inputs, got none"),
        (np.array([{}], dtype=object), "expected an array file of numpy, got a damaged one"),
    ],
)
def test_an_array_that_does_not_fit_is_refused(tmp_path: Path, array: np.ndarray, message: str) -> None:
    np.save(tmp_path / "images.npy", array)
    with pytest.raises(InvalidArgument, match=message):
        read_batches(tmp_path / "images.npy", IMAGE)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("cut.npy", b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False", "got a damaged one"),
        ("empty.npy", b"", "got a damaged one"),
        ("cut.npz", b"PK\x03\x04 and no more", "got a damaged one"),
        ("none.py", b"inputs = 3", "expected `batches`, an iterable of input tuples, got None"),
        ("few.py", b"batches = [()]", "batch 0: expected 1 inputs, got 0"),
        ("numbers.py", b"batches = [(3,)]", "batch 0: input 0: expected a tensor, got int"),
        (
            "sizes.py",
            b"import torch\nbatches = [torch.ones(3)]",
            r"expected float32 \[1, 3, 4, 4\], got float32",
        ),
        ("image.png", b"", "expected a folder, a .npy, .npz or .py file, got '.png'"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidArgument, match=message):
        read_batches(tmp_path / name, IMAGE)


def test_arrays_that_are_too_few_or_of_different_lengths_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "one.npz", tokens=np.zeros((6, 3), np.float32))
    with pytest.raises(InvalidArgument, match=r"expected 2 arrays, one for each input, got 1 \(tokens\)"):
        read_batches(tmp_path / "one.npz", PAIR)
    np.savez(tmp_path / "two.npz", tokens=np.zeros((6, 3), np.float32), ages=np.arange(4))
    with pytest.raises(InvalidArgument, match=r"expected the same number of each input, got \[2, 3\]"):
        read_batches(tmp_path / "two.npz", PAIR)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"expected \.npy or \.npz files in the folder, got none"):
        read_batches(tmp_path, IMAGE)

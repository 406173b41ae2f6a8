# SPDX-License-Identifier: BSD-3-Clause
"""examples/cpp_application in rushlight's tree prints what PyTorch computed, and refuses bad files by name.

tests/package/test_cpp_consumers.py builds it against an installed rushlight.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rushlight import process
from support.cmake_projects import COMMANDS, INTEROP, compile_without_warnings
from support.environments import DIGITS
from support.example_scripts import EXAMPLES, run_example

pytestmark = pytest.mark.package

EXAMPLE = EXAMPLES / "cpp_application"
MODEL = DIGITS / "digits.pte"
EIGHT = (EXAMPLE / "eight.csv").read_text()


@pytest.fixture(scope="module")
def built(build_folder: Callable[[str], Path]) -> tuple[Path, str]:
    """The application, and what the example's command printed."""
    folder = build_folder("cpp_application")
    printed = run_example("cpp_application", "-o", folder, env=COMMANDS).stdout
    return folder / "classify", printed


@pytest.fixture(scope="module")
def application(built: tuple[Path, str]) -> Path:
    return built[0]


def test_its_command_prints_what_pytorch_computed(built: tuple[Path, str]) -> None:
    printed = built[1]
    with np.load(DIGITS / "tensors.npz") as file:
        [expected] = file["forward.0.output0"]
    found = re.findall(r"^class (\d): ([\d.]+)$", printed, re.MULTILINE)
    assert len(found) == 6 and found[:3] == found[3:]  # for the picture, and for the values
    assert [int(number) for number, _ in found[:3]] == np.argsort(-expected)[:3].tolist()
    np.testing.assert_allclose([float(score) for _, score in found[:3]], np.sort(expected)[:-4:-1], atol=2e-6)
    assert len(re.findall(r"^one inference: [\d.]+ us$", printed, re.MULTILINE)) == 2


def test_it_compiles_without_warnings(application: Path) -> None:
    names = compile_without_warnings(application.parent, EXAMPLE)
    assert sorted(names) == ["image_file.cpp", "main.cpp"]


@pytest.mark.parametrize("magic", [b"P2", b"P5"])
def test_it_reads_both_kinds_of_pictures(magic: bytes, application: Path, tmp_path: Path) -> None:
    pixels = [round(16 * float(each)) for each in EIGHT.replace("\n", ",").split(",") if each]
    body = " ".join(map(str, pixels)).encode() if magic == b"P2" else bytes(pixels)
    picture = tmp_path / "eight.pgm"
    picture.write_bytes(magic + b" # an 8\n8\n#\n8 16\n" + body)
    printed = process.run([application, MODEL, picture], check=True).stdout
    assert printed.startswith("class 8: 0.995122\n")


BAD = {
    "a.csv": (EIGHT + "1", "expected 64 numbers, got 65"),
    "b.csv": (EIGHT.replace("0.375", "0.3x75", 1), "number 4: expected a finite number"),
    "c.csv": (EIGHT.replace("0.375", "nan", 1), "number 3: expected a finite number"),
    "d.csv": ("", "expected 64 numbers, got 0"),
    "e.txt": (EIGHT, "expected a name that ends in .csv or .pgm"),
    "f.pgm": ("P6 8 8 255 ", "expected P2 or P5"),
    "g.pgm": ("P5 99999999999 8 255 ", "width: expected a number up to 10000"),
    "h.pgm": ("P5 9 8 255 ", "expected 64 pixels, got 9 x 8 with maximum 255"),
    "i.pgm": ("P5 8 8 0 ", "expected 64 pixels, got 8 x 8 with maximum 0"),
    "j.pgm": ("P5 8 8 255 abc", "pixel 3: expected a byte up to 255"),
    "k.pgm": ("P2 8 8 15 16", "pixel: expected a number up to 15"),
    "l.pgm": ("P2 8 8", "maximum: expected a number up to 255"),
    "m.pgm": ("P", "expected P2 or P5"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_image_is_an_error_that_names_it(name: str, application: Path, tmp_path: Path) -> None:
    text, reason = BAD[name]
    (tmp_path / name).write_text(text)
    done = process.run([application, MODEL, tmp_path / name])
    assert (done.returncode, done.stdout) == (1, "")
    assert f"error: {tmp_path / name}: {reason}\n" in done.stderr


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("f64_add", "model: expected 1 input, got 2"),
        ("multi_method", "method forward: the program has no such method"),
        ("none", "none/model.pte"),
    ],
)
def test_a_program_that_takes_no_image_is_refused(model: str, reason: str, application: Path) -> None:
    done = process.run([application, INTEROP / model / "model.pte", EXAMPLE / "eight.csv"])
    assert done.returncode == 1 and reason in done.stderr


def test_without_arguments_it_says_how_it_is_called(application: Path) -> None:
    done = process.run([application])
    assert done.returncode == 2 and "usage: " in done.stderr

# SPDX-License-Identifier: BSD-3-Clause
"""Source packages of a baked program: each builds away from rushlight, as its ecosystem would build it, and
computes what the interpreter computes, to the bit."""

from __future__ import annotations

import json
import os
import platform
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import rushlight
from rushlight import process, targets
from rushlight.cli.main import rushlight as cli
from rushlight.package import FORMS, bake_package
from support.environments import DIGITS, ROOT

pytestmark = pytest.mark.package

CONSUMER = Path(__file__).parent / "consumers" / "packages"
EXAMPLES = {
    "arduino": "examples/digits/digits.ino",
    "platformio": "examples/digits/src/main.cpp",
    "cmake": "examples/digits/main.cpp",
    "esp-idf": "examples/digits/main/main.cpp",
    "zephyr": "samples/digits/src/main.cpp",
}


def configure(source: Path, folder: Path, **entries: str | Path) -> None:
    """CMake's configure step. Error: CommandFailed."""
    if ccache := shutil.which("ccache"):
        entries["CMAKE_CXX_COMPILER_LAUNCHER"] = ccache
    defines = [f"-D{name}={value}" for name, value in entries.items()]
    process.run(["cmake", "-S", source, "-B", folder, "-G", "Ninja", *defines], check=True)


def build(folder: Path, target: str = "all") -> None:
    jobs = str(os.cpu_count() or 1)
    process.run(["cmake", "--build", folder, "--target", target, "-j", jobs], check=True, timeout=600)


@pytest.fixture(scope="module")
def images() -> np.ndarray:
    """float32 [100, 1, 8, 8]."""
    with np.load(DIGITS / "tensors.npz") as file:
        return np.concatenate([file[f"forward.{i}.input0"] for i in range(100)])


@pytest.mark.parametrize("form", FORMS)
def test_a_package_computes_what_the_interpreter_does(form: str, images: np.ndarray, tmp_path: Path) -> None:
    package = tmp_path / "digits"
    bake_package(DIGITS / "digits.pte", form, package)
    entries: dict[str, str | Path] = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_CXX_FLAGS": "-Wall -Wextra -Werror",
    }
    if form == "cmake":
        configure(package, tmp_path / "own", **entries)
        build(tmp_path / "own")
        ran = process.run([tmp_path / "own" / "digits_example"], check=True)
        assert ran.stdout == "error 0\n"
        process.run(["cmake", "--install", tmp_path / "own", "--prefix", tmp_path / "prefix"], check=True)
        entries["CMAKE_PREFIX_PATH"] = tmp_path / "prefix"
        shutil.rmtree(package / "src")
    configure(
        CONSUMER,
        tmp_path / "out",
        FORM=form,
        PACKAGE=package,
        EXAMPLE=package / EXAMPLES[form],
        CHECK=CONSUMER / "check.cpp",
        **entries,
    )
    build(tmp_path / "out")
    assert process.run([tmp_path / "out" / "example"], check=True).stdout.startswith("error 0")

    images.tofile(tmp_path / "images")
    process.run([tmp_path / "out" / "check", tmp_path / "images", tmp_path / "scores"], check=True)
    got = np.fromfile(tmp_path / "scores", np.float32).reshape(100, 1, 10)
    program = rushlight.load(DIGITS / "digits.pte")
    expected = np.stack([program.forward(image[None])[0] for image in images])
    # Packages have the small kernels of boards, which add in another order than a host's.
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.cortex_m4
@pytest.mark.device
def test_the_sources_compile_for_a_microcontroller(tmp_path: Path) -> None:
    target = targets.get("cortex-m4")
    if missing := target.requirements():
        pytest.skip("cortex-m4: missing " + ", ".join(item.name for item in missing))
    bake_package(DIGITS / "digits.pte", "arduino", tmp_path / "digits")
    configure(
        CONSUMER,
        tmp_path / "out",
        FORM="arduino",
        PACKAGE=tmp_path / "digits",
        **target.toolchain,
    )
    build(tmp_path / "out", "model")
    symbols = process.run(["arm-none-eabi-nm", tmp_path / "out" / "libmodel.a"], check=True).stdout
    undefined = {line.split()[1] for line in symbols.splitlines() if line.split()[:1] == ["U"]}
    assert "memmove" in undefined
    assert undefined & {"malloc", "free", "_Znwj", "_ZdlPv", "__cxa_throw", "__gxx_personality_v0"} == set()


def test_the_command_writes_a_package(tmp_path: Path) -> None:
    arguments = ["bake", str(DIGITS / "digits.pte"), "-o", str(tmp_path / "out"), "--package", "platformio"]
    result = CliRunner().invoke(cli, [*arguments, "--name", "other", "--package-version", "2.0.1"])
    assert result.exit_code == 0, result.output
    assert "platformio package of" in result.output
    manifest = json.loads((tmp_path / "out/library.json").read_text())
    assert (manifest["name"], manifest["version"], manifest["headers"]) == ("other", "2.0.1", ["other.h"])


def test_a_package_says_nothing_of_where_it_was_made(tmp_path: Path) -> None:
    bake_package(DIGITS / "digits.pte", "cmake", tmp_path / "digits")
    files = [path for path in (tmp_path / "digits").rglob("*") if path.is_file()]
    foreign = (str(ROOT), str(tmp_path))
    assert [path.name for path in files if any(word in path.read_text() for word in foreign)] == []


@pytest.mark.skipif(platform.machine() != "x86_64", reason="missing: an x86-64 compiler with -mfma")
def test_quantized_sources_fuse_nothing_on_a_cpu_that_could(tmp_path: Path) -> None:
    bake_package(ROOT / "tests/interop/model_dscnn_int8/model.pte", "arduino", tmp_path / "model")
    source = tmp_path / "model/src/kernels/quantization/affine.cpp"
    fused = []
    for name, text in (
        ("exact", source.read_text()),
        ("plain", source.read_text().replace('#include "rushlight/exact.h"\n', "")),
    ):
        copy = tmp_path / f"{name}.cpp"
        copy.write_text(text)
        flags = ["-std=c++17", "-O2", "-mfma", f"-I{tmp_path / 'model/src'}"]
        assembly = process.run(["g++", *flags, "-S", "-o", "-", copy], check=True).stdout
        fused.append("vfm" in assembly)
    assert fused == [False, True]

# SPDX-License-Identifier: BSD-3-Clause
"""The files that a source package holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rushlight.errors import InvalidArgument
from rushlight.package import FORMS, Contents, collect, write_package
from rushlight.sources import source_root

GENERATED = {
    "small.h": '// SPDX-License-Identifier: BSD-3-Clause\n#pragma once\n\n#include "runtime/base/error.h"\n',
    "small.cpp": '// SPDX-License-Identifier: BSD-3-Clause\n#include "small.h"\n',
    "rushlight/selected_dtypes.h": "// SPDX-License-Identifier: BSD-3-Clause\n#pragma once\n",
    "rushlight/selected_backs.h": "// SPDX-License-Identifier: BSD-3-Clause\n#pragma once\n",
}


SOURCES = [
    "kernels/operators/activation/op_relu.cpp",
    "kernels/operators/quantized/op_dequantize_per_tensor.cpp",
]


def collected(**changes: object) -> Contents:
    arguments: dict = {
        "name": "small",
        "header": "small.h",
        "generated": GENERATED,
        "sources": SOURCES,
        "example": "int run_example() { return 0; }\n",
    }
    return collect(source_root(), **(arguments | changes))


def includes(text: str) -> list[str]:
    return re.findall(r'^\s*#\s*include "([^"]+)"', text, re.MULTILINE)


def test_every_include_is_found_and_every_header_has_its_source() -> None:
    files = collected().files
    assert {name for text in files.values() for name in includes(text)} <= set(files)
    for path in files:
        source = path.removesuffix(".h") + ".cpp"
        if path.startswith("kernels/") and (source_root() / source).is_file():
            assert source in files


def test_nothing_else_is_taken() -> None:
    contents = collected()
    assert [path for path in contents.sources if re.match("kernels/(operators|host|board)/", path)] == SOURCES
    assert not [path for path in contents.files if path.startswith(("runtime/program", "runtime/executor"))]
    assert not [path for path in contents.sources if path.startswith("runtime/trace")]


def test_sources_begin_with_the_settings_and_quantized_ones_with_exact_arithmetic() -> None:
    contents = collected()
    for path in contents.sources:
        assert includes(contents.files[path])[0] == "rushlight/source.h", path
    exact = {path for path in contents.sources if "rushlight/exact.h" in includes(contents.files[path])}
    assert exact == {"kernels/operators/quantized/op_dequantize_per_tensor.cpp"} | {
        path for path in contents.sources if path.startswith("kernels/quantization/")
    }
    assert includes(contents.files["small.h"])[0] == "rushlight/settings.h"


def test_an_include_that_nobody_has_is_named() -> None:
    with pytest.raises(InvalidArgument, match=r"expected the included files, there/is_none\.h not found"):
        collected(generated=GENERATED | {"small.cpp": '#include "there/is_none.h"\n'})


@pytest.mark.parametrize("name", ["", "1st", "a-b", "a" * 51, "string", "Math", "ArduinoThing", "runtime"])
def test_a_name_that_some_form_cannot_take_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgument, match="package name"):
        collected(name=name)


@pytest.mark.parametrize("version", ["1.0", "v1.0.0", "1.0.0-rc", "01.0.0"])
def test_a_version_is_three_numbers(version: str) -> None:
    with pytest.raises(InvalidArgument, match="package version"):
        collected(version=version)


def test_a_package_that_is_written_again_keeps_no_source_of_before(tmp_path: Path) -> None:
    write_package(collected(), "arduino", tmp_path)
    assert (tmp_path / "src/kernels/operators/activation/op_relu.cpp").is_file()
    write_package(collected(sources=["kernels/operators/activation/op_sigmoid.cpp"]), "arduino", tmp_path)
    assert [path.name for path in (tmp_path / "src/kernels/operators/activation").iterdir()] == [
        "op_sigmoid.cpp"
    ]


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("text")
    with pytest.raises(InvalidArgument, match="expected an empty folder"):
        write_package(collected(), "cmake", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_an_unknown_form_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=", ".join(FORMS)):
        write_package(collected(), "mbed", tmp_path)

# SPDX-License-Identifier: BSD-3-Clause
"""The line of docs/adding-a-backend.md builds as it stands there."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from rushlight import process
from rushlight.sources import source_root

PAGE = Path(__file__).parents[3] / "docs" / "adding-a-backend.md"

HEADER = """\
#pragma once
#include "runtime/backend/backend.h"

namespace my {
using namespace ::rushlight;

class Affine final : public Backend {
 public:
  constexpr Affine() = default;
  [[nodiscard]] Result<DelegateHandle*> init(BackendInitContext& context, FreeableBuffer* processed,
                                             Span<const CompileSpec> specs) const override;
  Error execute(BackendExecuteContext& context, DelegateHandle* handle,
                Span<EValue* const> arguments) const override;
};

inline constexpr Affine affine;
}  // namespace my
"""

SOURCE = """\
#include "affine.h"

namespace my {
Result<DelegateHandle*> Affine::init(BackendInitContext&, FreeableBuffer*, Span<const CompileSpec>) const {
  return Error::NotSupported;
}
Error Affine::execute(BackendExecuteContext&, DelegateHandle*, Span<EValue* const>) const {
  return Error::Ok;
}
}  // namespace my
"""


def configured(folder: Path, binary: Path) -> process.Result:
    words = ["-S", source_root(), "-B", binary, "-G", "Ninja", f"-DPython_EXECUTABLE={sys.executable}"]
    words += [f"-DRUSHLIGHT_BACKENDS={folder}", "-DEXECUTORCH_SELECT_OPS_LIST=aten::add.out"]
    return process.run(["cmake", *words])


def test_the_line_of_the_page_builds(tmp_path: Path) -> None:
    folder, binary = tmp_path / "affine", tmp_path / "b"
    folder.mkdir()
    (line,) = re.findall(r"```cmake\n\s*(rushlight_add_backend\(.*\))\n", PAGE.read_text(encoding="utf-8"))
    (folder / "CMakeLists.txt").write_text(line + "\n")
    (folder / "affine.h").write_text(HEADER)
    (folder / "affine.cpp").write_text(SOURCE)
    result = configured(folder, binary)
    assert result.returncode == 0, result.stderr
    table = "CMakeFiles/executorch_kernels.dir/generated/operator_table.cpp.o"
    process.run(["cmake", "--build", binary, "--target", "rushlight_backend_Affine", table], check=True)
    assert '{"Affine", &my::affine}' in (binary / "generated" / "operator_table.cpp").read_text()


@pytest.mark.parametrize("words", ["HEADER a.h OBJECT a::b", "HEADERS a.h OBJECT a::b SOURCES a.cpp"])
def test_a_word_that_is_missing_is_named(words: str, tmp_path: Path) -> None:
    folder = tmp_path / "affine"
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(f"rushlight_add_backend(Affine {words})\n")
    result = configured(folder, tmp_path / "b")
    assert result.returncode != 0 and "expected HEADER, OBJECT and SOURCES, got" in result.stderr

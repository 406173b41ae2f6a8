# SPDX-License-Identifier: BSD-3-Clause
"""docs/compat.md lists the existing headers, and ExecuTorch's headers are complete."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from support import compat_headers


def test_the_page_lists_the_headers_of_the_tree() -> None:
    assert compat_headers.PAGE.read_text() == compat_headers.page(), "run python tests/compat/headers_page.py"


def test_each_header_is_compiled_alone() -> None:
    compiled = (Path(__file__).parent / "headers.txt").read_text().split()
    assert compiled == sorted(compiled)
    # The headers of kernels/ hold the whole operator table, which kernels_test.cpp compiles.
    alone = [header for header in compat_headers.headers() if not header.startswith("executorch/kernels/")]
    assert compiled == alone


def test_each_header_of_the_official_package_is_there() -> None:
    found = importlib.util.find_spec("executorch")
    if found is None or not found.submodule_search_locations:
        pytest.skip("executorch is not installed")
    include = Path(next(iter(found.submodule_search_locations))) / "include"
    official = {path.relative_to(include).as_posix() for path in include.rglob("*.h")}
    assert len(official) > 100
    assert sorted(official - set(compat_headers.headers())) == []


def test_the_version_is_that_of_the_installed_package() -> None:
    header = (compat_headers.INCLUDE / "executorch/runtime/core/version.h").read_text()
    cmake = (compat_headers.ROOT / "cmake" / "install.cmake").read_text()
    version = re.search(r'#define ET_VERSION "([\d.]+)"', header)
    assert version is not None
    assert f'rushlight_install_package(executorch "{version[1]}"' in cmake

# SPDX-License-Identifier: BSD-3-Clause
"""Locates the C++ sources, CMake files and toolchains."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from rushlight.errors import RushlightError

_PACKAGE = Path(__file__).resolve().parent
_TREES = (_PACKAGE / "native", _PACKAGE.parents[1])


def options_file() -> Path:
    """The table of build options; it exists even where only kernels and the code generator are installed."""
    found = (folder / "cmake" / "options.json" for folder in _TREES)
    return next((path for path in found if path.is_file()), _TREES[-1] / "cmake" / "options.json")


@cache
def source_root() -> Path:
    """The tree with CMakeLists.txt, runtime/, kernels/ and toolchains/: from the wheel, or the checkout that
    this package is imported from."""
    for folder in _TREES:
        if (folder / "CMakeLists.txt").is_file() and (folder / "runtime").is_dir():
            return folder
    raise RushlightError(
        f"C++ sources: expected them in {_PACKAGE / 'native'} or {_PACKAGE.parents[1]}, got neither",
        next_step="Install rushlight again from a wheel or a whole checkout.",
    )

# SPDX-License-Identifier: BSD-3-Clause
"""Where the C++ sources, CMake files and toolchains are."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from rushlight.errors import RushlightError

_PACKAGE = Path(__file__).resolve().parent


@cache
def source_root() -> Path:
    """The tree with CMakeLists.txt, runtime/, kernels/ and toolchains/: the one that the wheel carries,
    or the checkout that this package is imported from."""
    for folder in (_PACKAGE / "native", _PACKAGE.parents[1]):
        if (folder / "CMakeLists.txt").is_file() and (folder / "runtime").is_dir():
            return folder
    raise RushlightError(
        f"the C++ sources are neither in {_PACKAGE / 'native'} nor in {_PACKAGE.parents[1]}",
        next_step="Install rushlight again from a wheel or a whole checkout.",
    )

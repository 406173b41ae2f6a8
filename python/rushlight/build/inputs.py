# SPDX-License-Identifier: BSD-3-Clause
"""Makes paths acceptable to CMake, ninja and assemblers. Each treats a different set of characters as syntax;
files with such names are passed through a link with a plain name."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path

from rushlight.errors import InvalidArgument

_SPECIAL = re.compile(r"[^\w\-./+=@~ ]")
_NEVER_AROUND_A_BUILD = re.compile(r'[\x00-\x1f\x7f"\\$;|<>*?\[\]\ud800-\udfff]')


def linked_inputs(paths: Iterable[Path], folder: Path) -> tuple[Path, ...]:
    """The paths, with links below `folder` in place of paths with special characters."""
    return tuple(_link(path, folder) if _SPECIAL.search(str(path)) else path for path in paths)


def _link(path: Path, folder: Path) -> Path:
    target = folder / "inputs" / hashlib.sha256(os.fsencode(path.parent)).hexdigest()[:12]
    link = target / plain_name(path.name)
    if not (link.is_symlink() and str(link.readlink()) == str(path)):
        target.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(path, target_is_directory=path.is_dir())
    return link


def plain_name(name: str) -> str:
    """The name without special characters; a changed name gets a hash suffix that keeps it unique."""
    plain = _SPECIAL.sub("_", name.replace("/", "_"))
    if plain == name:
        return name
    digits = hashlib.sha256(os.fsencode(name)).hexdigest()[:8]
    stem, dot, suffix = plain.rpartition(".")
    return f"{stem}-{digits}.{suffix}" if dot and stem else f"{plain}-{digits}"


def check_build_folder(folder: Path) -> None:
    """Error: InvalidArgument for a folder whose path CMake, ninja or the linker would misread."""
    if found := _NEVER_AROUND_A_BUILD.search(str(folder)):
        raise InvalidArgument(
            f"build folder {folder}: expected a path that CMake and linkers take, got one with {found[0]!r}",
            next_step="Name another folder with -o.",
        )

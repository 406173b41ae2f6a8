# SPDX-License-Identifier: BSD-3-Clause
"""The forms of packages, and the function that writes one."""

from __future__ import annotations

from pathlib import Path

from rushlight.errors import InvalidArgument
from rushlight.files import write_text
from rushlight.package import arduino, cmake, esp_idf, platformio, zephyr
from rushlight.package.contents import Contents

FORMS = {
    "arduino": arduino.files,
    "platformio": platformio.files,
    "cmake": cmake.files,
    "esp-idf": esp_idf.files,
    "zephyr": zephyr.files,
}
"""Each function returns the files of its form, text by path; the files in `src/` are the same for all forms.
"""


def write_package(contents: Contents, form: str, folder: Path) -> list[Path]:
    """Writes the package into `folder`, which is created, or is empty, or holds an earlier package: files in
    its src/ that are not part of this package are removed. Returns the written paths.

    Errors: InvalidArgument for a form that is not in FORMS, and for a folder with other content.
    """
    if form not in FORMS:
        raise InvalidArgument(f"package form '{form}': expected one of {', '.join(FORMS)}")
    files = {f"src/{path}": text for path, text in contents.files.items()}
    files["LICENSE"] = contents.licence
    files |= FORMS[form](contents)
    _prepare(folder, set(files))
    written = []
    for path, text in sorted(files.items()):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, text)
        written.append(file)
    return written


def _prepare(folder: Path, wanted: set[str]) -> None:
    """Removes sources of an earlier package that this one lacks: they would be compiled."""
    if not folder.exists():
        return
    if not folder.is_dir() or (any(folder.iterdir()) and not (folder / "src/rushlight/settings.h").is_file()):
        raise InvalidArgument(f"{folder}: expected an empty folder or an earlier package, got other files")
    for file in sorted((folder / "src").rglob("*")):
        if file.is_file() and file.relative_to(folder).as_posix() not in wanted:
            file.unlink()

# SPDX-License-Identifier: BSD-3-Clause
"""The contents of a package, independent of its form: a baked program, and the rushlight sources that it
needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rushlight.codegen import ukernels
from rushlight.codegen.includes import closure
from rushlight.codegen.table import EXACT_SOURCES
from rushlight.errors import InvalidArgument
from rushlight.package.settings import OWN_FILES, with_prelude

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,49}")
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
# A header of that name would hide a system header; folder names in src/ are taken, too.
_TAKEN = re.compile(
    "assert|complex|ctype|endian|errno|fenv|float|inttypes|iso646|kernels|limits|locale|malloc|math|memory"
    "|pthread|runtime|rushlight|sched|setjmp|signal|std(align|arg|atomic|bool|def|int|io|lib|noreturn)|strings?"
    "|tgmath|threads|time|uchar|unistd|version|wchar|wctype"
)
# Only compiled with tracers, which baked programs do not have.
_LEFT_OUT = re.compile(r"runtime/trace/.*\.cpp")


@dataclass(frozen=True)
class Contents:
    """The parts of a package. `files` maps paths under its include root to text; `header` is the header that
    applications include. `example` is C++ that defines `int run_example()`, called by the main() of each
    form. `licence` is the text for the `files` from rushlight, `notes` the README's section about the
    model."""

    name: str
    version: str
    sentence: str
    header: str
    files: Mapping[str, str]
    example: str
    licence: str
    notes: str = ""

    @property
    def sources(self) -> list[str]:
        """The source files, sorted."""
        return sorted(path for path in self.files if path.endswith((".cpp", ".c")))


def collect(
    root: Path,
    *,
    name: str,
    header: str,
    generated: Mapping[str, str],
    sources: Iterable[str],
    example: str,
    version: str = "1.0.0",
    sentence: str = "",
    notes: str = "",
) -> Contents:
    """Collects the contents of a package: the files `generated`, by path, and the sources selected for them,
    as paths from `root`, the source tree; adds all headers that these include.

    Errors: InvalidArgument for a name that is not a C identifier of at most 50 characters or equals a
    system header's; for a version other than three numbers; and for an include that is not found.
    """
    if not _NAME.fullmatch(name) or name.lower().startswith("arduino"):
        raise InvalidArgument(
            f"package name '{name}': expected a letter, then up to 49 letters, digits and underscores; "
            "names that begin with Arduino are taken"
        )
    if _TAKEN.fullmatch(name.lower()):
        raise InvalidArgument(
            f"package name: expected none of a system header, got '{name}'", next_step="Give another: --name"
        )
    if not _VERSION.fullmatch(version):
        raise InvalidArgument(f"package version '{version}': expected three numbers, as 1.0.0")

    def read(path: str) -> str | None:
        if path in generated:
            return generated[path]
        if path in OWN_FILES:
            return OWN_FILES[path]
        if path == ukernels.VARIANTS_HEADER:
            return ukernels.variants_header(ukernels.read_table(root))
        file = root / path
        inside = ".." not in Path(path).parts and not _LEFT_OUT.fullmatch(path)
        return file.read_text(encoding="utf-8") if inside and file.is_file() else None

    files, missing = closure([*generated, *sources, *OWN_FILES], read)
    if missing:
        raise InvalidArgument(f"package {name}: expected the included files, {', '.join(missing)} not found")
    return Contents(
        name=name,
        version=version,
        sentence=sentence or f"The model {name}, baked into C++ by rushlight.",
        header=header,
        files={
            path: with_prelude(
                text,
                path,
                is_public=path == header,
                is_exact=bool(EXACT_SOURCES.fullmatch(path)),
                condition=ukernels.condition(path, read),
            )
            for path, text in files.items()
        },
        example=example,
        licence=(root / "LICENSE").read_text(encoding="utf-8"),
        notes=notes,
    )

# SPDX-License-Identifier: BSD-3-Clause
"""Assigns linked objects to components of rushlight, and symbols to operators and dtypes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path, PurePosixPath

from rushlight.codegen import ukernels
from rushlight.codegen.table import BACKS_FOLDERS, load_table
from rushlight.size.linkmap import Piece
from rushlight.sources import source_root

STARTUP, TABLE, MODEL, PADDING = "startup", "generated table", "model", "padding"
BAKED = "baked program"
APPLICATION, UNKNOWN = "application", "unknown"

_BAKED = re.compile(r"(?:^|/)baked/(\w+)/\1(_example|_weights)?\.\w+$")
_OURS = re.compile(r"(?:^|/)((?:runtime|kernels)/(?:\w+/)*?)[\w.+-]+$")
_COMPILERS = ("libgcc", "libclang_rt", "libcompiler_rt", "compiler_rt", "crt", "Scrt", "gcrt")
# Sections for dynamic linking; the map attributes them to an arbitrary object.
_DYNAMIC = (".interp", ".note", ".gnu", ".dyn", ".rel", ".plt", ".got", ".hash", ".eh_frame")
_OBJECT = re.compile(r"\.(o|obj)$")


class Components:
    """Finds the source of each object: by its path; for objects in archives by the build folder, or without
    one by the file names of the source tree."""

    def __init__(self, build_folder: Path | None = None) -> None:
        self._folder = build_folder
        # Several objects may share a name: the common part of kernels, and backs of the same name.
        self._objects: dict[tuple[str, str], dict[str, Path]] = {}
        for path in build_folder.glob("**/CMakeFiles/*.dir/**/*.o*") if build_folder else ():
            if _OBJECT.search(path.name):
                folder = next(part for part in reversed(path.parts) if part.endswith(".dir"))
                inside = path.as_posix().rpartition(folder + "/")[2]
                key = (folder.removesuffix(".dir"), path.name)
                self._objects.setdefault(key, {})[inside] = path

    def source(self, piece: Piece) -> str:
        """The source file relative to the source tree, or the library and its member: "runtime/base/log.cpp",
        "libc.a(memcpy.o)". Empty for padding."""
        if not piece.file:
            return ""
        library = PurePosixPath(piece.archive).name
        if not library:
            return _source_of(piece.file.rpartition(".dir/")[2])
        built = list(self._objects.get(_key(piece), ()))
        inside = _that_of(piece, built or _in_tree(_key(piece)[0], piece.file))
        return _source_of(inside) if inside else f"{library}({piece.file})"

    def object_file(self, piece: Piece) -> Path | None:
        """The object in the build folder; None for libraries from elsewhere."""
        if not piece.archive:
            path = self._folder / piece.file if self._folder and piece.file else None
            return path if path and path.is_file() else None
        built = self._objects.get(_key(piece), {})
        return built.get(_that_of(piece, list(built)) or "")

    def of(self, piece: Piece) -> str:
        """The component of a piece: a folder of the tree, a generated part, or a library."""
        if not piece.file:
            return PADDING
        source = self.source(piece)
        if piece.section.startswith(_DYNAMIC):
            return "dynamic linking"
        if re.search(r"_(model|data)\.S$", source) or piece.section == ".model":
            return MODEL
        if source.endswith("operator_table.cpp") and "runtime/" not in source:
            return TABLE
        if _BAKED.search(source):
            return BAKED
        if source.endswith("baked_runner_programs.cpp"):
            return TABLE
        if "boards/startup/" in source:
            return STARTUP
        if found := _OURS.search(source):
            return found[1].rstrip("/")
        return _library_component(piece, source)


def _key(piece: Piece) -> tuple[str, str]:
    """(CMake target, object) of an archive member."""
    return PurePosixPath(piece.archive).name.removeprefix("lib").removesuffix(".a"), piece.file


def _that_of(piece: Piece, sources: list[str]) -> str | None:
    """Picks the source of a piece by its section among sources of the same name; None if there are none."""
    backs = [f"/{folder}/" for folder in BACKS_FOLDERS]
    of = [f"/{folder}/" for folder in BACKS_FOLDERS if f"7kernels{len(folder)}{folder}" in piece.name]
    found = (path for path in sources if [each for each in backs if each in path] == of)
    return next(found, next(iter(sources), None))


def _library_component(piece: Piece, source: str) -> str:
    library = PurePosixPath(piece.archive or piece.file).name
    if piece.file.startswith("<") or piece.file == "linker stubs":
        return "linker"
    if library.startswith(_COMPILERS):
        return f"compiler library ({library})"
    if piece.archive and "(" in source:
        known = re.match(r"lib(c|m|g|c_nano|nosys|semihost|pthread)\.a$", library)
        return f"C library ({library})" if known else f"library {library}"
    return APPLICATION


def _source_of(path: str) -> str:
    source = _OBJECT.sub("", path)
    while source.startswith(("../", "./")):
        source = source.partition("/")[2]
    # CMake writes __ for ../ in the names of objects.
    source = re.sub(r"^(?:__/)+", "", source)
    baked = _BAKED.search(source)
    return baked[0].lstrip("/") if baked else source


@cache
def _tree_files() -> dict[str, list[str]]:
    files: dict[str, list[str]] = {}
    root = source_root()
    for folder in ("runtime", "kernels"):
        for path in sorted((root / folder).rglob("*.cpp")):
            files.setdefault(path.name, []).append(path.relative_to(root).as_posix())
    for generated in ukernels.generated_sources(root):
        files.setdefault(PurePosixPath(generated).name, []).append(generated)
    return files


def _in_tree(target: str, member: str) -> list[str]:
    """The source files with this name that may belong to the library."""
    folder = "kernels/" if target.endswith("kernels") else "runtime/"
    if not target.startswith("rushlight_") and target != "executorch_kernels":
        return []
    name = _OBJECT.sub("", member)
    if name == "operator_table.cpp" and folder == "kernels/":
        return ["generated/operator_table.cpp"]
    return [path for path in _tree_files().get(name, []) if path.startswith(folder)]


def operators_by_source(selected: Iterable[str] | None) -> dict[str, str]:
    """The operators that each kernel source computes, such as "aten::add.out", separated by ", "; only
    `selected` operators, or all if None. Sources are relative to the tree:
    "kernels/operators/elementwise/op_add.cpp"."""
    wanted = None if selected is None else set(selected)
    found: dict[str, list[str]] = {}
    table = load_table(source_root() / "kernels" / "ops.yaml")
    for name, row in table.operators.items():
        if wanted is None or name in wanted:
            for source in (row.source, *(back.source for back in row.known_backs)):
                found.setdefault(f"kernels/{source}.cpp", []).append(name)
    return {source: ", ".join(sorted(names)) for source, names in found.items()}


_TYPES = {
    "float": "float32", "double": "float64", "bool": "bool", "signed char": "int8", "unsigned char": "uint8",
    "short": "int16", "unsigned short": "uint16", "int": "int32", "unsigned int": "uint32",
    "long": "int64", "long long": "int64", "unsigned long": "uint64", "unsigned long long": "uint64",
    "Half": "float16", "rushlight::Half": "float16",
    "BFloat16": "bfloat16", "rushlight::BFloat16": "bfloat16",
}  # fmt: skip
_COMPLEX = re.compile(r"(?:rushlight::)?Complex<((?:rushlight::)?\w+)>")
_COMPLEX_NAMES = {
    "float": "complex64",
    "double": "complex128",
    "Half": "complex32",
    "rushlight::Half": "complex32",
}


def dtypes_of(readable: str, *, pointer_bits: int = 32) -> str:
    """The dtypes in the template arguments of a demangled name, separated by "+"; empty without any."""
    name = _without_parameters(readable)
    found: dict[str, None] = {}
    for arguments in _template_arguments(name):
        for complex_type in _COMPLEX.findall(arguments):
            found[_COMPLEX_NAMES.get(complex_type, complex_type)] = None
        plain = _COMPLEX.sub("", arguments)
        for word in re.split(r"[<>,]", plain):
            word = re.sub(r"\bconst\b|[*&]", "", word).strip()
            if word in ("long", "unsigned long") and pointer_bits == 32:
                word = word.replace("long", "int")
            if word in _TYPES:
                found[_TYPES[word]] = None
    return "+".join(sorted(found))


def _without_parameters(name: str) -> str:
    kept, depth = [], 0
    for character in name.replace("(anonymous namespace)", "anonymous"):
        depth += character == "("
        if depth == 0:
            kept.append(character)
        depth -= character == ")"
    return "".join(kept)


def _template_arguments(name: str) -> list[str]:
    found, depth, start = [], 0, 0
    for at, character in enumerate(name):
        if character == "<" and name[max(0, at - 8) : at] != "operator":
            depth += 1
            start = at + 1 if depth == 1 else start
        elif character == ">" and depth and name[at - 1] != "-":
            depth -= 1
            if depth == 0:
                found.append(name[start:at])
    return found

# SPDX-License-Identifier: BSD-3-Clause
"""Reads the table of the microkernels' variants, kernels/ukernel/variants.yaml, and generates from it:
headers with the variants and their detection, a source for each family and variant, and lists for
cmake/ukernel.cmake.

  python -m rushlight.codegen.ukernels <root> <folder> [NAME...]   # writes all of them below the folder

With names (RUSHLIGHT_CPU_VARIANTS), only these variants are compiled: the least capable one is the baseline,
compiled in place of the native code, and the others are chosen at run time.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from rushlight.documents import parse_yaml
from rushlight.errors import InvalidArgument
from rushlight.files import write_if_changed

FOLDER = "kernels/ukernel"
TABLE = f"{FOLDER}/variants.yaml"
VARIANTS_HEADER = f"{FOLDER}/variant_table.h"
DETECTION_HEADER = f"{FOLDER}/variant_detection.h"
LISTS = "ukernels.cmake"
CONDITIONS = "questions.cpp"

NATIVE = "native"
"""The name of the variant for the compiler's own flags."""

FAMILIES = {
    "float": "RL_UKERNEL",
    "exact": "RL_UKERNEL_EXACT",
    "integer": "RL_UKERNEL_INTEGER",
    "bfloat16": "RL_UKERNEL_BFLOAT16",
    "half": "RL_UKERNEL_HALF",
}
"""The sets of families in a row, and the macro with which a family's header joins a set."""

_HEADER = re.compile(rf"{FOLDER}/(\w+)\.h")
_SOURCE = re.compile(rf"{FOLDER}/(\w+)/(\w+?)(?:-(\w+))?\.cpp")
_DECLARES = re.compile(r"\b(RL_UKERNEL(?:_EXACT|_INTEGER|_BFLOAT16|_HALF)?)\(\w")
Read = Callable[[str], str | None]
Shape = int | bool


@dataclass(frozen=True)
class Row:
    """A variant as described in the table. `shape` and `detect` add to the extended row's."""

    isa: str
    name: str
    when: str
    extends: str
    detect: Mapping[str, tuple[int, ...]]
    flags: tuple[str, ...]
    options: tuple[str, ...]
    spare: bool
    target: str
    families: frozenset[str]
    shape: Mapping[str, Shape]

    @property
    def path(self) -> str:
        return f"{self.isa}/{self.name}"

    @property
    def enumerator(self) -> str:
        """Its name in enum Variant."""
        return self.name.capitalize()

    def source(self, family: str) -> str:
        """The path, relative to the root, of the row's separate source for a family, which may not exist."""
        return f"{FOLDER}/{self.isa}/{family}-{self.name}.cpp"


@dataclass(frozen=True)
class Isa:
    """An instruction set with variants chosen at run time: its condition, and its header relative to
    FOLDER."""

    when: str
    cpu: str


@dataclass(frozen=True)
class Table:
    """`asked` are the names of the variants to compile; empty: all."""

    isas: Mapping[str, Isa]
    shapes: Mapping[str, Shape]
    rows: tuple[Row, ...]
    asked: frozenset[str] = frozenset()

    def row(self, path: str) -> Row | None:
        return next((row for row in self.rows if row.path == path), None)

    def lineage(self, row: Row) -> list[Row]:
        """The row and all rows that it extends, directly or indirectly."""
        found = [row]
        while (below := self.row(found[-1].extends)) is not None:
            found.append(below)
        return found

    def shape(self, row: Row | None) -> dict[str, Shape]:
        """All constants of a variant; None stands for the portable one, without a row."""
        shape = dict(self.shapes)
        for each in reversed(self.lineage(row) if row else []):
            shape.update(each.shape)
        return shape

    def detected(self, isa: str) -> list[Row]:
        """The rows of an instruction set that can be chosen at run time, the least capable first."""
        return [row for row in reversed(self.rows) if row.isa == isa and row.detect]

    def chosen(self, isa: str) -> list[Row]:
        """The rows of an instruction set chosen at run time, the least capable first, as in enum Variant."""
        rows = [row for row in self.detected(isa) if not self.asked or row.name in self.asked]
        return rows if self.baseline(isa) is None else rows[1:]

    def names(self, isa: str) -> list[str]:
        """The names that `asked` may have for an instruction set, the native code's first."""
        own = [row.name for row in self.rows if row.isa == isa and not row.detect]
        return [NATIVE, *own, *(row.name for row in self.detected(isa))]

    def baseline(self, isa: str) -> Row | None:
        """The asked row that is compiled in place of the native code; None if that is compiled itself."""
        rows = self.detected(isa)
        asked = self.asked & set(self.names(isa))
        if asked - {row.name for row in rows}:
            return None
        return next((row for row in rows if row.name in asked), None)


@lru_cache(maxsize=4)
def load(text: str) -> Table:
    """Parses the table. Errors: InvalidArgument naming the wrong row."""
    data = parse_yaml(text, what=TABLE)
    isas = {name: Isa(**_only(f"isas: {name}", each, "when", "cpu")) for name, each in data["isas"].items()}
    rows = tuple(_row(each, data["shapes"]) for each in data["rows"])
    table = Table(isas, data["shapes"], rows)
    _check(table)
    return table


def _only(where: str, given: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    if unknown := sorted(set(given) - set(keys)):
        raise InvalidArgument(f"{TABLE}: {where}: expected the keys {', '.join(keys)}, got {unknown[0]}")
    return dict(given)


def _row(data: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Row:
    path = str(data.get("row"))
    keys = ("row", "when", "extends", "detect", "flags", "options", "spare", "target", "families", "shape")
    _only(path, data, *keys)
    if not re.fullmatch(r"[a-z]\w*/[a-z]\w*", path) or not data.get("when"):
        raise InvalidArgument(f"{TABLE}: {path}: expected a row <isa>/<name> with `when`")
    _only(f"{path}: families", dict.fromkeys(data.get("families", [])), *FAMILIES)
    _only(f"{path}: shape", data.get("shape", {}), *shapes)
    isa, _, name = path.partition("/")
    return Row(
        isa=isa,
        name=name,
        when=data["when"],
        extends=data.get("extends", ""),
        detect={word: tuple(bits) for word, bits in data.get("detect", {}).items()},
        flags=tuple(data.get("flags", [])),
        options=tuple(data.get("options", [])),
        spare=data.get("spare", False),
        target=data.get("target", ""),
        families=frozenset(data.get("families", [])),
        shape=data.get("shape", {}),
    )


def _check(table: Table) -> None:
    paths = [row.path for row in table.rows]
    for position, row in enumerate(table.rows):
        if row.path in paths[:position]:
            raise InvalidArgument(f"{TABLE}: {row.path}: expected one row with that name, got two")
        if row.extends and row.extends not in paths[position + 1 :]:
            raise InvalidArgument(
                f"{TABLE}: {row.path}: expected `extends` to name a later row, got {row.extends}"
            )
        if row.detect and row.isa not in table.isas:
            raise InvalidArgument(f"{TABLE}: {row.path}: expected {row.isa} among `isas`, as it has `detect`")
        if bool(row.detect) != bool(row.flags):
            raise InvalidArgument(f"{TABLE}: {row.path}: expected `detect` and `flags` together")
    # A machine's best row falls back to the nearest lesser row for which a family is compiled; it must extend
    # that row.
    for isa in table.isas:
        chosen = table.chosen(isa)
        for position, row in enumerate(chosen):
            lineage = table.lineage(row)
            for kind in FAMILIES:
                stands_in = next((each for each in chosen[position::-1] if kind in each.families), None)
                if stands_in is not None and stands_in not in lineage:
                    raise InvalidArgument(
                        f"{TABLE}: {row.path}: expected to extend {stands_in.path}, whose {kind} "
                        "families it would use, got a row that does not",
                        next_step=f"Add `families: [{kind}]` to {row.path} or a row that it extends.",
                    )


def _note(mark: str) -> str:
    lines = ("SPDX-License-Identifier: BSD-3-Clause", "Generated by rushlight.codegen.ukernels; do not edit.")
    return "\n".join(f"{mark} {line}" for line in lines)


def _constants(shape: Mapping[str, Shape], indent: str = "") -> list[str]:
    lines = []
    for name, value in shape.items():
        is_bool = isinstance(value, bool)
        shown = str(value).lower()
        lines.append(f"{indent}inline constexpr {'bool' if is_bool else 'size_t'} k{name} = {shown};")
    return lines


def variants_header(table: Table) -> str:
    """variant_table.h: the shapes of each variant, enum Variant, RL_FOR_<families>, which applies a macro to
    the variants chosen at run time, the best first, and the target and variant of RL_LOOPS, if there is
    one."""
    lines = [_note("//"), "#pragma once", "", "#include <cstddef>", ""]
    lines += ["namespace rushlight::ukernel::native {"]
    word = "#if"
    for name, isa in table.isas.items():
        baseline = table.baseline(name)
        if baseline is not None:
            lines += [
                f"{word} {isa.when}  // {baseline.path}, the baseline",
                *_constants(table.shape(baseline)),
            ]
            word = "#elif"
    for row in table.rows:
        if row.shape or row.extends:
            lines += [f"{word} {row.when}  // {row.path}", *_constants(table.shape(row))]
            word = "#elif"
    lines += ["#else", *_constants(table.shapes), "#endif", "}  // namespace rushlight::ukernel::native", ""]
    word = "#if"
    for name, isa in table.isas.items():
        chosen = table.chosen(name)
        lines += [f"{word} RUSHLIGHT_UKERNEL_VARIANTS && {isa.when}", "namespace rushlight::ukernel {"]
        names = ["Native", *(row.enumerator for row in chosen)]
        lines += [f"enum class Variant : int {{ {', '.join(names)} }};"]
        baseline = table.baseline(name)
        shown = [baseline.name if baseline else NATIVE, *(row.name for row in chosen)]
        quoted = ", ".join(f'"{each}"' for each in shown)
        lines += [f"inline constexpr const char* kVariantNames[] = {{{quoted}}};"]
        for row in chosen:
            lines += [f"namespace {row.name} {{", *_constants(table.shape(row)), "}"]
        lines += ["}  // namespace rushlight::ukernel"]
        for kind in FAMILIES:
            upper = kind.upper()
            compiled = [row for row in reversed(chosen) if kind in row.families]
            applied = " ".join(f"apply({row.name}, {row.enumerator}, __VA_ARGS__)" for row in compiled)
            lines += [f"#define RL_HAS_{upper} {int(bool(compiled))}"]
            lines += [f"#define RL_FOR_{upper}(apply, ...) {applied}".rstrip()]
        for row in [each for each in chosen if each.target][-1:]:
            lines += [f'#define RL_LOOPS_TARGET "{row.target}"', f"#define RL_LOOPS_VARIANT {row.enumerator}"]
        word = "#elif"
    lines += ["#else"]
    for kind in FAMILIES:
        lines += [f"#define RL_HAS_{kind.upper()} 0", f"#define RL_FOR_{kind.upper()}(apply, ...)"]
    return "\n".join([*lines, "#endif", ""])


def detection_header(table: Table) -> str:
    """variant_detection.h: runnable_variants(cpu) and Cpu, the machine's features; with a baseline also
    runs_baseline(cpu) and kBaseline, its name."""
    lines = [_note("//"), "#pragma once", "", "#include <cstdint>", ""]
    lines += ['#include "kernels/ukernel/variants.h"', ""]
    word = "#if"
    for name, isa in table.isas.items():
        chosen = table.chosen(name)
        lines += [f"{word} {isa.when}", f'#include "{FOLDER}/{isa.cpu}"', ""]
        lines += ["namespace rushlight::ukernel {", ""]
        lines += ["// The variants that a machine can execute: bit i for value i of enum Variant."]
        lines += ["template <class AnyCpu>", "uint32_t runnable_variants(const AnyCpu& cpu) {"]
        lines += ["  uint32_t found = 1;"]
        numbers = {row.path: number for number, row in enumerate(chosen, start=1)}
        for row in chosen:
            # Rows between this one and the next chosen one that it extends are tested with it.
            tests: list[str] = []
            for each in table.lineage(row):
                if each is not row and each.path in numbers:
                    tests.insert(0, f"(found & {1 << numbers[each.path]:#x}u) != 0")
                    break
                tests += _detects(each)
            lines += [f"  if ({' && '.join(tests)}) found |= {1 << numbers[row.path]:#x}u;  // {row.name}"]
        lines += ["  return found;", "}", ""]
        baseline = table.baseline(name)
        if baseline is not None:
            tests = [test for each in table.lineage(baseline) for test in _detects(each)]
            lines += [f'inline constexpr const char* kBaseline = "{baseline.name}";']
            lines += ["template <class AnyCpu>", "bool runs_baseline(const AnyCpu& cpu) {"]
            lines += [f"  return {' && '.join(tests)};", "}", ""]
        lines += ["}  // namespace rushlight::ukernel"]
        word = "#elif"
    return "\n".join([*lines, "#endif", ""])


def _detects(row: Row) -> list[str]:
    """The conditions on `cpu` of a row's own features."""
    masks = {word: f"{sum(1 << bit for bit in bits):#x}u" for word, bits in row.detect.items()}
    return [f"(cpu.{word} & {mask}) == {mask}" for word, mask in masks.items()]


def native_sources(header: str, read: Read) -> list[str]:
    """The sources of a family, of which one is compiled: the rows' in table order, then the generic one;
    empty for other headers. `read` returns a file's text by its path from the root, or None."""
    found = _HEADER.fullmatch(header)
    if found is None:
        return []
    paths = [row.source(found[1]) for row in load(read(TABLE) or "").rows]
    paths.append(f"{FOLDER}/generic/{found[1]}.cpp")
    return [path for path in paths if read(path) is not None]


def condition(path: str, read: Read) -> str:
    """The #if condition under which a source of native_sources is compiled; empty: always."""
    found = _SOURCE.fullmatch(path)
    if found is None:
        return ""
    table = load(read(TABLE) or "")
    before: list[str] = []
    for other in native_sources(f"{FOLDER}/{found[2]}.h", read):
        parts = _SOURCE.fullmatch(other)
        assert parts is not None
        row = table.row(f"{parts[1]}/{parts[3]}")
        if other == path:
            return " && ".join([*([f"({row.when})"] if row else []), *(f"!({text})" for text in before)])
        if row:
            before.append(row.when)
    return ""


def families(headers: Mapping[str, str]) -> dict[str, str]:
    """The set in FAMILIES that each family has joined, by name; empty: no run-time variants. `headers` are
    the texts of FOLDER's headers by name."""
    by_macro = {macro: kind for kind, macro in FAMILIES.items() if macro}
    found: dict[str, str] = {}
    for name, text in headers.items():
        macros = set(_DECLARES.findall(text))
        if len(macros) > 1:
            raise InvalidArgument(f"{FOLDER}/{name}.h: expected one of {', '.join(sorted(macros))}, got all")
        found[name] = by_macro[macros.pop()] if macros else ""
    return found


def stub(source: str) -> str:
    """A source that includes a family's source, to compile it again for another row."""
    return f'{_note("//")}\n#include "{source}"\n'


def best_source(table: Table, row: Row, family: str, root: Path) -> str:
    """The source of a family for a row: its own, that of the nearest extended row, or the generic one."""
    paths = [each.source(family) for each in table.lineage(row)]
    return next((path for path in paths if (root / path).is_file()), f"{FOLDER}/generic/{family}.cpp")


def variant_sources(table: Table, kinds: Mapping[str, str]) -> dict[str, tuple[Row, str]]:
    """For each source of a run-time variant, by path from the root: its row and family."""
    return {
        row.source(family): (row, family)
        for isa in table.isas
        for row in table.chosen(isa)
        for family, kind in sorted(kinds.items())
        if kind in row.families
    }


def questions(table: Table) -> str:
    """A source for the preprocessor, which leaves the tokens of the true conditions: @<row>@, @<isa>@,
    @hosted@ and @wasm@."""
    asked = [(row.path, row.when) for row in table.rows]
    asked += [(name, isa.when) for name, isa in table.isas.items()]
    asked += [("hosted", "defined(__linux__)"), ("wasm", "defined(__wasm__)")]
    return "".join(f"#if {when}\n@{name}@\n#endif\n" for name, when in asked)


def lists(table: Table, kinds: Mapping[str, str], root: Path, folder: Path) -> str:
    """ukernels.cmake, below `folder`, with absolute paths:

    - RUSHLIGHT_UKERNEL_ROWS: the rows in order
    - RUSHLIGHT_UKERNEL_SPARE: the rows whose native code is optimized for size
    - RUSHLIGHT_UKERNEL_ISAS: instruction sets with rows chosen at run time
    - RUSHLIGHT_UKERNEL_OF_<isa>: these rows, the least capable first
    - RUSHLIGHT_UKERNEL_DETECTED_<isa>: the rows that a build without a choice of variants would choose from
    - RUSHLIGHT_UKERNEL_NAMES_<isa>: the names that RUSHLIGHT_CPU_VARIANTS may have
    - RUSHLIGHT_UKERNEL_BASELINE_<isa>: the row compiled in place of the native code and the rows it extends,
      best first
    - RUSHLIGHT_UKERNEL_FLAGS_<row> and _OPTIONS_<row>
    - RUSHLIGHT_UKERNEL_FAMILIES_<row>: the families compiled for it
    - RUSHLIGHT_UKERNEL_CODE_<row>_<family>: the tree's own source for it, if it exists
    - RUSHLIGHT_UKERNEL_SOURCE_<row>_<family>: the source to compile if it is chosen at run time
    """
    values: dict[str, Sequence[str | Path]] = {
        "ROWS": [row.path for row in table.rows],
        "SPARE": [row.path for row in table.rows if row.spare],
        "ISAS": list(table.isas),
        **{f"OF_{isa}": [row.path for row in table.chosen(isa)] for isa in table.isas},
        **{f"DETECTED_{isa}": [row.path for row in table.detected(isa)] for isa in table.isas},
        **{f"NAMES_{isa}": table.names(isa) for isa in table.isas},
    }
    for isa in table.isas:
        baseline = table.baseline(isa)
        values[f"BASELINE_{isa}"] = [row.path for row in table.lineage(baseline)] if baseline else []
    compiled = variant_sources(table, kinds)
    for row in table.rows:
        values[f"FLAGS_{row.path}"] = row.flags
        values[f"OPTIONS_{row.path}"] = row.options
        values[f"FAMILIES_{row.path}"] = sorted(name for name, kind in kinds.items() if kind in row.families)
        for family in kinds:
            path = row.source(family)
            own = root / path
            if own.is_file():
                values[f"CODE_{row.path}_{family}"] = [own]
            if path in compiled:
                values[f"SOURCE_{row.path}_{family}"] = [own if own.is_file() else folder / path]
    lines = [_note("#")]
    for name, items in values.items():
        if items:
            words = [f"set(RUSHLIGHT_UKERNEL_{name}", *(f"[==[{item}]==]" for item in items)]
            lines.append(" ".join(words) + ")")
    return "\n".join([*lines, ""])


def read_table(root: Path) -> Table:
    """The table of the tree at `root`."""
    return load((root / TABLE).read_text(encoding="utf-8"))


def read_headers(root: Path) -> dict[str, str]:
    """The texts of the families' headers by name; a family has a generic source."""
    names = sorted(path.stem for path in (root / FOLDER / "generic").glob("*.cpp"))
    return {name: (root / FOLDER / f"{name}.h").read_text(encoding="utf-8") for name in names}


def generated_sources(root: Path, table: Table | None = None) -> dict[str, str]:
    """The sources of variants without their own code in the tree, by path from the root."""
    table = table or read_table(root)
    compiled = variant_sources(table, families(read_headers(root)))
    return {
        path: stub(best_source(table, row, family, root))
        for path, (row, family) in compiled.items()
        if not (root / path).is_file()
    }


def write(root: Path, folder: Path, asked: Iterable[str] = ()) -> None:
    """Writes the generated headers and sources below `folder`, by their paths from the root. A file whose
    content does not change keeps its time stamp. A generated source that the tree has gained is removed,
    because includes would find it first. `asked` are the variants to compile; empty: all."""
    table = replace(read_table(root), asked=frozenset(asked))
    kinds = families(read_headers(root))
    files = {
        VARIANTS_HEADER: variants_header(table),
        DETECTION_HEADER: detection_header(table),
        CONDITIONS: questions(table),
        LISTS: lists(table, kinds, root, folder),
        **generated_sources(root, table),
    }
    for name in variant_sources(table, kinds).keys() - files.keys():
        (folder / name).unlink(missing_ok=True)
    for name, text in files.items():
        write_if_changed(folder / name, text)


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])

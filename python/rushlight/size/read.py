# SPDX-License-Identifier: BSD-3-Clause
"""Creates a report from a build: its ELF file, and its map and objects if present."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rushlight import process
from rushlight.build import RUNNER, read_selection
from rushlight.documents import read_json
from rushlight.errors import InvalidArgument
from rushlight.size.arenas import method_arenas, weight_bytes
from rushlight.size.breakdown import break_down
from rushlight.size.components import Components
from rushlight.size.elf import Elf, read_elf
from rushlight.size.linked import LinkedProgram
from rushlight.size.linkmap import read_map
from rushlight.size.report import SizeReport
from rushlight.size.stack import StackBound, stack_bound

# The stack frame that a core pushes for an interrupt: eight words, 18 more with floating-point registers, and
# one for alignment.
_ARM_FRAME, _ARM_FLOAT_FRAME = 36, 108
_ARM_HARD_FLOAT = 0x400
_OBJDUMPS = {
    "EM_ARM": "arm-none-eabi-objdump",
    "EM_RISCV": "riscv64-unknown-elf-objdump",
    "EM_X86_64": "objdump",
    "EM_AARCH64": "aarch64-linux-gnu-objdump",
}


@dataclass(frozen=True)
class Built:
    """The files of a build. `folder` is CMake's build folder, used for components and the call graph."""

    executable: Path
    link_map: Path | None
    folder: Path | None
    target: str
    models: tuple[Path, ...]


def find_build(path: Path, link_map: Path | None = None) -> Built:
    """The build at `path`: a folder of `rushlight build` or CMake, or an ELF file with its map beside it.
    Error: InvalidArgument if there is no build."""
    if path.is_file():
        beside = path.with_name(path.name + ".map"), path.with_suffix(".map")
        found = link_map or next((p for p in beside if p.is_file()), None)
        return Built(path, found, None, "", ())
    folder = path / "cmake-build" if (path / "cmake-build").is_dir() else path
    names = [path / f"{RUNNER}.elf", path / RUNNER, folder / RUNNER]
    executable = next((name for name in names if name.is_file()), None)
    if executable is None:
        raise InvalidArgument(
            f"{path}: expected a folder with {RUNNER}, got one without",
            next_step="Name a folder of `rushlight build -o`, or an executable with --elf.",
        )
    cache = _cache(folder)
    described = path / "build.json"
    target = read_json(described)["target"] if described.is_file() else ""
    models = tuple(Path(name) for name in cache.get("EXECUTORCH_SELECT_OPS_MODEL", "").split(";") if name)
    found = link_map or folder / f"{RUNNER}.map"
    return Built(executable, found if found.is_file() else None, folder, target, models)


def _cache(folder: Path) -> dict[str, str]:
    """CMake's cache entries."""
    path = folder / "CMakeCache.txt"
    lines = path.read_text().splitlines() if path.is_file() else []
    entries = (line.partition("=") for line in lines if "=" in line and line[0] not in "#/")
    return {name.partition(":")[0]: value for name, _, value in entries}


def read_build(built: Built, models: Sequence[Path] = ()) -> SizeReport:
    """The report of a build without running it. `models` are the programs that it is for, if the build does
    not name them.

    Errors: InvalidArgument (no ELF file, no link map), the errors of reading programs.
    """
    elf = read_elf(built.executable)
    known = [model for model in models or built.models if model.is_file()]
    components = Components(built.folder)
    pieces = read_map(built.link_map) if built.link_map else None
    unknown = [] if pieces is not None else ["components, operators and stack: there is no link map"]
    selected = _selected(built.folder)
    entries = break_down(elf, pieces, components, selected)
    stack = None
    if pieces is not None:
        program = LinkedProgram(elf, pieces, components, _objdump(elf, built.folder))
        stack = stack_bound(
            program, interrupt_frame=_interrupt_frame(elf), red_zone=128 if elf.machine == "EM_X86_64" else 0
        )
        unknown += _unknown_of_stack(stack)
    content = [s for s in elf.sections if s.memory in ("flash", "ram", "flash+ram")]
    return SizeReport(
        target=built.target,
        models=tuple(map(str, known)),
        executable=str(built.executable),
        flash=sum(s.size for s in content if s.has_content),
        ram=sum(s.size for s in content if s.is_written),
        model=sum(s.size for s in elf.sections if s.memory == "model"),
        weights=weight_bytes(known),
        sections=tuple((s.name, s.size, s.memory) for s in elf.sections),
        entries=tuple(entries),
        methods=tuple(method_arenas(known, elf.bits)),
        stack=stack,
        forbidden=tuple(elf.forbidden()),
        unknown=tuple(unknown),
    )


def _selected(folder: Path | None) -> list[str] | None:
    path = folder / "generated" / "selected_kernels.json" if folder else None
    return list(read_selection(path)) if path and path.is_file() else None


def _objdump(elf: Elf, folder: Path | None) -> str:
    """The build's own objdump, or the one for the machine."""
    named = _cache(folder).get("CMAKE_OBJDUMP", "") if folder else ""
    if named and process.find_program(named):
        return named
    return _OBJDUMPS.get(elf.machine, "objdump")


def _interrupt_frame(elf: Elf) -> int:
    if elf.machine != "EM_ARM":
        return 0  # a trap handler on RISC-V saves registers itself
    return _ARM_FLOAT_FRAME if elf.flags & _ARM_HARD_FLOAT else _ARM_FRAME


def _unknown_of_stack(stack: StackBound | None) -> list[str]:
    if stack is None:
        return ["stack: neither rushlight_start nor main is in the program"]
    said = []
    if stack.recursive:
        said.append(f"stack: how often these call themselves: {', '.join(stack.recursive)}")
    if stack.dynamic:
        said.append(f"stack: how much these take, which depends on data: {', '.join(stack.dynamic)}")
    if stack.assumed:
        said.append(f"stack: what these need, 256 bytes each were assumed: {', '.join(stack.assumed)}")
    if not stack.frames.get("compiler"):
        said.append(
            "stack: the compiler's frames, which GCC writes with the feature call-graph; read off the code"
        )
    return said

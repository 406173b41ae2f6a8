# SPDX-License-Identifier: BSD-3-Clause
"""The parameters of a build, and the CMake cache entries for them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rushlight import targets
from rushlight.codegen.options import BAKED, BUILD, EMBED, FEATURES, LOG_LEVEL, merged, options

PathLike = str | os.PathLike[str]

RUNNER = "executor_runner"
BAKED_RUNNER = "baked_runner"
_MODULE = "rushlight_python"
_SUFFIXES = {"bare-metal": ".elf", "wasi": ".wasm"}


@dataclass(frozen=True)
class BakedModel:
    """A program to bake; `name` as for bake()."""

    model: Path
    data_files: tuple[Path, ...] = ()
    name: str | None = None


@dataclass(frozen=True)
class BuildRequest:
    """Everything that determines a build; paths are absolute. `models` are programs and bundled programs,
    `data_files` hold their external tensors; a board links both in. `kernels` are additional kernel
    libraries.

    With `integers`, a program that is linked in is first converted, so that its quantized parts compute in
    integers; a runner that loads files has the operators of the programs and of their converted forms.

    With `baked`, the executable is baked_runner with these programs and their operators; `minimal` also
    builds the smallest application of each, and `interpreter` an executor_runner with the same kernels.
    """

    target: str
    models: tuple[Path, ...] = ()
    data_files: tuple[Path, ...] = ()
    ops: tuple[str, ...] = ()
    ops_yaml: tuple[Path, ...] = ()
    all_ops: bool = False
    dtypes: str = "model"
    calls: str = "model"
    only_dtypes: tuple[str, ...] = ()
    kernels: tuple[Path, ...] = ()
    priority: tuple[str, ...] = ()
    prefer: tuple[str, ...] = ()
    cpu_variants: tuple[str, ...] = ()
    python_module: bool = False
    baked: tuple[BakedModel, ...] = ()
    minimal: bool = False
    interpreter: bool = False
    integers: bool = False
    defines: Mapping[str, str] = field(default_factory=dict)

    @property
    def runner(self) -> str:
        """The CMake target of the main executable."""
        return BAKED_RUNNER if self.baked else RUNNER

    def file_name(self, target: targets.Target) -> str:
        """The executable's file name in the output folder."""
        return self.runner + _SUFFIXES.get(target.kind, "")

    def cmake_targets(self, baked: Sequence[str] = ()) -> list[str]:
        """The CMake targets to build; `baked` are the names of the baked programs."""
        applications = [minimal_name(name) for name in baked if self.minimal]
        others = [
            name for name, wanted in ((RUNNER, self.interpreter), (_MODULE, self.python_module)) if wanted
        ]
        return [self.runner, *applications, *others]

    def cache_entries(
        self, target: targets.Target, embedded: Sequence[Path] = (), baked: Sequence[Path] = ()
    ) -> dict[str, str]:
        """CMake's cache entries for this request. Options with a flag come from the fields of the same names;
        `embedded` are the files to link in, `baked` the folders of baked programs."""
        runs = self.interpreter or not self.baked
        built = ["runner" if runs else "no-runner", "python" if self.python_module else "no-python"]
        features: list[str] = []
        if self.interpreter:
            features = ["data-files"]
        elif target.kind == "bare-metal" and not self.links_model:
            # A board's runner without a linked model may get any file at run time.
            features = ["data-files", "bundled-programs"]
        entries = {
            "CMAKE_BUILD_TYPE": "Release" if target.kind == "host" else "MinSizeRel",
            **{row.name: row.cache_value(getattr(self, row.field)) for row in options() if row.flag},
            BUILD: ";".join(built),
            FEATURES: ";".join(features),
            EMBED: ";".join(map(str, embedded)),
            BAKED: ";".join(map(str, baked)),
        }
        if target.kind == "bare-metal":
            entries[LOG_LEVEL] = "off"
        return merged(entries, self.defines)

    @property
    def links_model(self) -> bool:
        """True if a board links a model in."""
        return len(self.models) == 1


def minimal_name(program: str) -> str:
    """The CMake target of the smallest application of a baked program."""
    return f"{program}_minimal"

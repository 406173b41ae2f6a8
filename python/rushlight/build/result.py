# SPDX-License-Identifier: BSD-3-Clause
"""The result of a build."""

from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from rushlight.build.compiler_cache import CacheUse
from rushlight.build.sizes import Sizes
from rushlight.errors import InvalidArgument


@dataclass(frozen=True)
class BuildResult:
    """A finished build.

    `executable` is executor_runner for the target, on bare metal with the model linked in if there is
    exactly one; `extension` is the Python module of a host build. `selection` maps each operator to its
    dtypes. `seconds` is wall time, including `configure_seconds` of CMake's configure step.
    `compiler_cache` is None without a cache. `linked_model` is the program that is linked in. `delegates`
    maps each backend to the models that delegate to it.
    """

    target: str
    output: Path
    executable: Path
    extension: Path | None
    selection: dict[str, list[str]]
    sizes: Sizes
    seconds: float
    configure_seconds: float = 0.0
    compiler_cache: CacheUse | None = None
    linked_model: Path | None = None
    delegates: dict[str, list[str]] = field(default_factory=dict)

    def module(self) -> ModuleType:
        """The imported extension module, for `rushlight.load`. It holds only the selected kernels."""
        if self.extension is None:
            raise InvalidArgument(
                f"Python module: expected a host build, got one for '{self.target}'",
                next_step='Build with target="host".',
            )
        written = self.extension.stat().st_mtime_ns
        name = f"rushlight._built_{abs(hash((str(self.extension), written)))}._runtime"
        if name not in sys.modules:
            # Loads under a unique path: the loader caches modules by path and would return an earlier
            # build's.
            own = self.extension.with_name(f"loaded-{written}.so")
            if not own.exists():
                os.link(self.extension, own)
            spec = importlib.util.spec_from_file_location(name, own)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            sys.modules[name] = module
        return sys.modules[name]

    def to_json(self) -> dict[str, Any]:
        """The result as JSON types; paths as strings, sizes in bytes."""
        return {
            "target": self.target,
            "output": str(self.output),
            "executable": str(self.executable),
            "extension": str(self.extension) if self.extension else None,
            "selection": self.selection,
            "delegates": self.delegates,
            "sizes": self.sizes.to_json(),
            "seconds": round(self.seconds, 3),
            "configure_seconds": round(self.configure_seconds, 3),
            "compiler_cache": self.compiler_cache.to_json() if self.compiler_cache else None,
        }

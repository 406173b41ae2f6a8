# SPDX-License-Identifier: BSD-3-Clause
"""Builds the executable of a run if the caller gives none; in a cache by default."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rushlight.build import BuildRequest, BuildResult, existing_libraries, run_request
from rushlight.build.baked import BakedBuild, build_baked
from rushlight.build.cmake import Progress
from rushlight.build.inputs import plain_name
from rushlight.codegen.options import BACKENDS, BUILD, split_names
from rushlight.convert.delegates import XNNPACK
from rushlight.convert.files import converted_model
from rushlight.run.prepared import PreparedCase, prepare_case
from rushlight.sources import source_root
from rushlight.trace.request import TraceRequest


def needs_runner(defines: Mapping[str, str]) -> bool:
    """True if a build with these definitions has backends, or PyTorch's kernels, that its executor_runner has
    and its Python module lacks."""
    return bool(defines.get(BACKENDS)) or "aten" in split_names(defines.get(BUILD, ""))


@dataclass(frozen=True)
class RunnerBuild:
    """Options for building the executable of a run: for `target`, below `folder` (default: a cache), with
    additional kernel libraries `kernels` and CMake cache entries `defines`."""

    target: str
    folder: Path | None = None
    kernels: Sequence[str | os.PathLike[str]] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    progress: Progress | None = None

    @property
    def changes_the_runtime(self) -> bool:
        """True if the build would have kernels or backends that the native module of this process lacks."""
        return bool(self.kernels) or needs_runner(self.defines)

    def interpreter(self, prepared: PreparedCase, trace: TraceRequest | None) -> BuildResult:
        """An executor_runner for the program. Errors: as in building."""
        request = self._request(prepared, trace.defines() if trace else {})
        return run_request(request, self.folder or _cache_folder(request), progress=self.progress)

    def baked(self, prepared: PreparedCase) -> BakedBuild:
        """A baked_runner for the program. Errors: as in baking and building."""
        request = self._request(prepared, {"baked": ""})  # a separate folder in the cache
        return build_baked(
            prepared.path,
            target=self.target,
            output=self.folder or _cache_folder(request),
            data_files=prepared.data_files,
            kernels=request.kernels,
            defines=self.defines,
            progress=self.progress,
            minimal=False,
        )

    def _request(self, prepared: PreparedCase, defines: Mapping[str, str]) -> BuildRequest:
        return BuildRequest(
            target=self.target,
            models=(prepared.path.resolve(),),
            data_files=prepared.data_files,
            kernels=existing_libraries(self.kernels),
            defines={**defines, **self.defines},
        )


def converted_case(prepared: PreparedCase, defines: Mapping[str, str], *, integers: bool) -> PreparedCase:
    """The case with its program converted to a cached file; the case itself if nothing changes."""
    path = prepared.path.resolve()
    converted = cached_conversion(path, integers=integers, data_files=prepared.data_files)
    return prepared if converted == path else prepare_case(converted, prepared.case, defines)


def cached_conversion(model: Path, *, integers: bool = True, data_files: Sequence[Path] = ()) -> Path:
    """See converted_model: the file itself, or a cached file."""
    data = model.read_bytes()
    contents = hashlib.sha256(data)
    if XNNPACK.encode() in data:
        for path in data_files:
            contents.update(path.read_bytes())
    key = contents.hexdigest()[:12]
    folder = build_cache() / ("integers" if integers else "plain")
    name = plain_name(f"{model.parent.name}-{model.stem}-{key}")
    return converted_model(model, folder / name, integers=integers, data_files=data_files)


def build_cache() -> Path:
    """The default folder for runners and converted programs."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rushlight"


def _cache_folder(request: BuildRequest) -> Path:
    """A folder for each model, target and options, so that a second run reuses the build of the first."""
    base = build_cache() / "builds"
    ordered = replace(request, defines=dict(sorted(request.defines.items())))
    decides = repr((source_root(), sys.executable, ordered))
    key = hashlib.sha256(decides.encode()).hexdigest()[:12]
    model = request.models[0]
    return base / plain_name(f"{model.parent.name}-{model.stem}-{request.target}-{key}")

# SPDX-License-Identifier: BSD-3-Clause
"""Compiler caches of builds: settings that let build folders share objects, and statistics of each build."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rushlight import process
from rushlight.documents import parse_json
from rushlight.errors import RushlightError

_RESULTS = "ccache-results.txt"


@dataclass(frozen=True)
class CacheUse:
    """The statistics of `program` ("ccache" or "sccache") for one build: objects found in the cache (`hits`),
    how many of these came from remote storage (`remote_hits`, None if unknown), and compiled objects.
    sccache counts all builds that run at the same time together."""

    program: str
    hits: int
    remote_hits: int | None
    misses: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class CompilerCache:
    """The cache through which the configured build folder `binary` starts its compilers, if any."""

    def __init__(self, binary: Path) -> None:
        self._binary = binary
        entries = _cache_entries(binary / "CMakeCache.txt")
        self._program = entries.get("RUSHLIGHT_COMPILER_CACHE_PROGRAM", "")
        self._before: tuple[int, int] = (0, 0)
        flags = entries.get("CMAKE_BUILD_TYPE", "") + entries.get("CMAKE_CXX_FLAGS", "")
        self._has_paths_inside = bool(re.search(r"Deb|-g\b", flags))

    @property
    def name(self) -> str:
        """ "ccache", "sccache", or empty."""
        return Path(self._program).name

    def environment(self) -> dict[str, str]:
        """Environment variables for the build's processes. All sources are below the build folder, through a
        link: with paths relative to it, build folders anywhere share objects. Debug information contains
        the folder's name; such objects are not shared."""
        if self.name != "ccache":
            return {}
        shared = {} if self._has_paths_inside else {"CCACHE_NOHASHDIR": "1"}
        return {
            **shared,
            "CCACHE_BASEDIR": str(self._binary),
            "CCACHE_STATSLOG": str(self._binary / _RESULTS),
        }

    def start(self) -> None:
        """Starts counting; call before the build."""
        (self._binary / _RESULTS).unlink(missing_ok=True)
        if self.name == "sccache":
            self._before = self._sccache_counts()

    def use(self) -> CacheUse | None:
        """The statistics; call after the build. None without a cache."""
        if self.name == "sccache":
            hits, misses = self._sccache_counts()
            return CacheUse(self.name, hits - self._before[0], None, misses - self._before[1])
        if self.name == "ccache":
            return _ccache_use(self._binary / _RESULTS)
        return None

    def _sccache_counts(self) -> tuple[int, int]:
        """Hits and misses since sccache's server started."""
        shown = process.run([self._program, "--show-stats", "--stats-format=json"])
        try:
            stats = parse_json(shown.stdout, what="sccache --show-stats")["stats"]
            hits, misses = stats["cache_hits"]["counts"], stats["cache_misses"]["counts"]
            return sum(hits.values()), sum(misses.values())
        except (RushlightError, KeyError, TypeError, AttributeError):
            return (0, 0)


def _ccache_use(results: Path) -> CacheUse:
    """Reads CCACHE_STATSLOG: a line with the source, then the names of the counters that increased."""
    lines = results.read_text().splitlines() if results.is_file() else []
    counts = Counter(line for line in lines if not line.startswith("#"))
    # Older versions call it secondary.
    remote = counts["remote_storage_hit"] + counts["secondary_storage_hit"]
    hits = counts["direct_cache_hit"] + counts["preprocessed_cache_hit"]
    return CacheUse("ccache", hits, remote, counts["cache_miss"] + counts["recache"])


def _cache_entries(path: Path) -> Mapping[str, str]:
    """CMake's cache entries by name."""
    text = path.read_text(errors="replace") if path.is_file() else ""
    return dict(re.findall(r"^([A-Za-z_]\w*):\w+=(.*)$", text, re.MULTILINE))

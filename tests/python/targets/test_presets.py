# SPDX-License-Identifier: BSD-3-Clause
"""CMake's presets: every toolchain by every build type, composed of one hidden preset each."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from rushlight import process

ROOT = Path(__file__).parents[3]  # presets are the checkout's; a wheel has none
BUILD_TYPES = {"minsize": "MinSizeRel", "release": "Release", "debug": "Debug"}
PRESETS: dict[str, Any] = json.loads((ROOT / "CMakePresets.json").read_text())
CONFIGURE: dict[str, dict[str, Any]] = {preset["name"]: preset for preset in PRESETS["configurePresets"]}
TOOLCHAINS = [name.removeprefix("toolchain-") for name in CONFIGURE if name.startswith("toolchain-")]
COMBINATIONS = [f"{toolchain}-{kind}" for toolchain in TOOLCHAINS for kind in BUILD_TYPES]
OTHERS = ["tests", "fuzz"]


def ancestors(name: str) -> list[str]:
    """The presets that one inherits from, itself first."""
    parents = CONFIGURE[name].get("inherits", [])
    parents = [parents] if isinstance(parents, str) else parents
    return [name, *(above for parent in parents for above in ancestors(parent))]


def cmake_files() -> set[str]:
    """The toolchain files that name a core or a system."""
    files = (ROOT / "toolchains").glob("*.cmake")
    return {
        path.stem for path in files if re.search(r"^set\(RUSHLIGHT_CODE ", path.read_text(), re.MULTILINE)
    }


def test_cmake_lists_every_combination() -> None:
    result = process.run(["cmake", "--list-presets"], cwd=ROOT, check=True, timeout=30)
    listed = re.findall(r'^  "([^"]+)"', result.stdout, re.MULTILINE)
    assert sorted(listed) == sorted([*COMBINATIONS, *TOOLCHAINS, *OTHERS])


def test_every_toolchain_file_and_the_host_has_presets() -> None:
    assert cmake_files() | {"host"} == set(TOOLCHAINS)


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
def test_a_combination_is_a_base_a_toolchain_and_a_build_type(toolchain: str) -> None:
    for kind, build_type in BUILD_TYPES.items():
        parts = ["base", f"toolchain-{toolchain}", f"buildtype-{kind}"]
        assert ancestors(f"{toolchain}-{kind}")[1:] == parts
        assert CONFIGURE[parts[2]]["cacheVariables"] == {"CMAKE_BUILD_TYPE": build_type}
        assert all(CONFIGURE[part]["hidden"] for part in parts)
    file = None if toolchain == "host" else f"${{sourceDir}}/toolchains/{toolchain}.cmake"
    assert CONFIGURE[f"toolchain-{toolchain}"].get("toolchainFile") == file


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
def test_a_toolchains_name_alone_is_its_usual_build(toolchain: str) -> None:
    usual = "release" if toolchain == "host" else "minsize"
    assert CONFIGURE[toolchain]["inherits"] == f"{toolchain}-{usual}"


def test_whatever_can_be_configured_can_be_built() -> None:
    built = {preset["name"]: preset["configurePreset"] for preset in PRESETS["buildPresets"]}
    assert built == {name: name for name in [*COMBINATIONS, *TOOLCHAINS, *OTHERS]}

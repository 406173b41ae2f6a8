# SPDX-License-Identifier: BSD-3-Clause
"""CMake's presets: for each target its usual build and its other build kinds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from rushlight import process
from rushlight.targets.table import table

ROOT = Path(__file__).parents[3]  # presets are the checkout's; a wheel has none
BUILD_TYPES = {"minsize": "MinSizeRel", "release": "Release", "debug": "Debug"}
PRESETS: dict[str, Any] = json.loads((ROOT / "CMakePresets.json").read_text())
CONFIGURE: dict[str, dict[str, Any]] = {preset["name"]: preset for preset in PRESETS["configurePresets"]}
VISIBLE = [name for name, preset in CONFIGURE.items() if not preset.get("hidden")]
OTHERS = ["target", "tests", "fuzz", "tsan"]
TARGETS = ["host", *table().rows]
USUAL = {name: "release" if name == "host" else "minsize" for name in TARGETS}


def entries(name: str) -> dict[str, Any]:
    """All cache variables and the toolchain file of a preset; of what it inherits, the first counts."""
    preset = CONFIGURE[name]
    parents = preset.get("inherits", [])
    found: dict[str, Any] = {}
    for parent in reversed([parents] if isinstance(parents, str) else parents):
        found |= entries(parent)
    found |= preset.get("cacheVariables", {})
    if "toolchainFile" in preset:
        found["toolchain"] = preset["toolchainFile"]
    return found


def test_cmake_lists_every_preset() -> None:
    result = process.run(["cmake", "--list-presets"], cwd=ROOT, check=True, timeout=30)
    assert re.findall(r'^  "([^"]+)"', result.stdout, re.MULTILINE) == VISIBLE


def test_the_presets_are_of_known_targets_with_all_build_kinds() -> None:
    named = [name for name in VISIBLE if name not in OTHERS]
    have = [name for name in TARGETS if name in named]
    kinds = {name: [kind for kind in BUILD_TYPES if kind != USUAL[name]] for name in have}
    assert named == [name for target in have for name in (target, *(f"{target}-{k}" for k in kinds[target]))]


def test_a_target_without_presets_of_its_own_has_the_preset_target() -> None:
    expected = {"CMAKE_BUILD_TYPE": "MinSizeRel", "toolchain": "${sourceDir}/toolchains/target.cmake"}
    assert entries("target") == expected


@pytest.mark.parametrize("target", [name for name in TARGETS if name in CONFIGURE])
def test_the_presets_of_a_target_choose_it_and_their_build_kind(target: str) -> None:
    for kind, build_type in BUILD_TYPES.items():
        expected = {"CMAKE_BUILD_TYPE": build_type}
        if target != "host":
            expected |= {
                "RUSHLIGHT_TARGET": target,
                "toolchain": "${sourceDir}/toolchains/target.cmake",
            }
        name = target if kind == USUAL[target] else f"{target}-{kind}"
        assert entries(name) == expected


def test_whatever_can_be_configured_can_be_built() -> None:
    built = {preset["name"]: preset["configurePreset"] for preset in PRESETS["buildPresets"]}
    assert built == {name: name for name in VISIBLE}

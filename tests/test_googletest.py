# SPDX-License-Identifier: BSD-3-Clause
"""The C++ tests, which ctest runs once; each is a test here too, so that one summary counts them all."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ElementTree
from functools import cache
from pathlib import Path

import pytest

from rushlight import process

VARIABLE = "RUSHLIGHT_TEST_BUILD"
BUILD = Path(os.environ.get(VARIABLE) or Path(__file__).resolve().parents[1] / "build" / "tests")


@cache
def known_tests() -> list[str]:
    """The names that ctest has; empty without a build."""
    if not (BUILD / "CTestTestfile.cmake").is_file():
        return []
    listed = process.run(["ctest", "--test-dir", BUILD, "--show-only=json-v1"], check=True)
    return sorted(test["name"] for test in json.loads(listed.stdout)["tests"])


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ElementTree.Element]:
    """The result that ctest reports for each test."""
    report = tmp_path_factory.mktemp("ctest") / "junit.xml"
    process.run(["ctest", "--test-dir", BUILD, "--output-junit", report])
    return {case.attrib["name"]: case for case in ElementTree.parse(report).getroot().iter("testcase")}


def test_the_cpp_tests_are_built() -> None:
    if not BUILD.is_dir():
        pytest.skip(f"no {BUILD}: cmake --preset tests, cmake --build --preset tests, or set {VARIABLE}")
    assert known_tests()


@pytest.mark.parametrize("name", known_tests())
def test_cpp(name: str, results: dict[str, ElementTree.Element]) -> None:
    case = results[name]
    if case.attrib["status"] == "notrun":
        pytest.skip(case.findtext("system-out") or f"{name} was skipped")
    assert case.attrib["status"] == "run", case.findtext("system-out")

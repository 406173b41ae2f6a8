# SPDX-License-Identifier: BSD-3-Clause
"""Keeps pytest out of the build output beside the tests, if it is given the whole checkout; adds --shard, and
the markers of targets and their compilers; gives each of pytest-xdist's processes one thread of OpenMP."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

pytest_plugins = ["support.shards"]

collect_ignore = ["build", "dist", "out", "rushlight-build"]


def pytest_configure(config: pytest.Config) -> None:
    """Registers a marker for each row of toolchains/targets.json, and for each compiler."""
    if hasattr(config, "workerinput"):
        # Before torch comes: its threads would wait for each other's CPUs in loops.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
    table = json.loads((Path(__file__).parent / "toolchains" / "targets.json").read_text())
    for name in table["targets"]:
        config.addinivalue_line("markers", f"{name.replace('-', '_')}: needs the target {name}")
    for name in {entry["name"] for row in table["targets"].values() for entry in row["compilers"]}:
        config.addinivalue_line("markers", f"{name}: needs the compiler {name}")

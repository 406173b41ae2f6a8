# SPDX-License-Identifier: BSD-3-Clause
"""All kernels, built for a Cortex-M33: their sizes stay within size_budgets.yaml, where each raise of a limit
has its reason; they neither use the heap nor hold writable data, throw nothing and run nothing before
main."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from rushlight import targets
from rushlight.size.kernels import KernelSizes, kernel_sizes
from support.symbols import constructors, forbidden_calls, writable_objects

BUDGETS = yaml.safe_load(Path(__file__).with_name("size_budgets.yaml").read_text())
TARGET = "cortex-m33"
TOOLS = "arm-none-eabi-"


@dataclass(frozen=True)
class Library:
    """A build of all kernels."""

    file: Path
    measured: KernelSizes
    budget: dict[str, Any]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=[] if name == "all_dtypes" else [pytest.mark.exhaustive]) for name in BUDGETS
    ],
)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Library:
    if missing := targets.get(TARGET).requirements():
        pytest.skip(f"{TARGET}: missing " + ", ".join(item.name for item in missing))
    budget = BUDGETS[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    measured = kernel_sizes(TARGET, dtypes=budget["dtypes"], output=folder)
    return Library(folder / "cmake-build" / "libexecutorch_kernels.a", measured, budget)


@pytest.mark.slow
def test_all_kernels_together_stay_within_their_budget(library: Library) -> None:
    measured = library.measured
    assert 10_000 < measured.total <= library.budget["total"]
    assert measured.total == sum(measured.sources.values()) + sum(measured.shared.values()) + measured.table


@pytest.mark.slow
def test_each_source_stays_within_its_budget(library: Library) -> None:
    measured, budget = library.measured, library.budget
    sizes = {**measured.sources, **measured.shared, "operator_table": measured.table}
    limits = {source: budget["sources"].get(source, budget["source"]) for source in sizes}
    over = {source: (size, limits[source]) for source, size in sizes.items() if size > limits[source]}
    assert not over, f"bytes, and at most how many: {over}"


@pytest.mark.slow
def test_nothing_of_a_host_is_in_them(library: Library) -> None:
    assert forbidden_calls(library.file, TOOLS) == []
    assert constructors(library.file, TOOLS) == []
    assert writable_objects(library.file, TOOLS) == []


def test_every_limit_is_of_a_source() -> None:
    folder = Path(__file__).parents[2] / "kernels"
    for budget in BUDGETS.values():
        for source in budget["sources"]:
            assert source == "operator_table" or (folder / f"{source}.cpp").is_file(), source

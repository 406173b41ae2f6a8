# SPDX-License-Identifier: BSD-3-Clause
"""What the kernels take on a Cortex-M33 stays within size_budgets.yaml, whose limits only go down."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rushlight import targets
from rushlight.devtools.kernel_sizes import KernelSizes, kernel_sizes

BUDGETS = yaml.safe_load(Path(__file__).with_name("size_budgets.yaml").read_text())
TARGET = "cortex-m33"


@pytest.fixture(scope="module", params=list(BUDGETS))
def measured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> KernelSizes:
    if missing := targets.get(TARGET).requirements():
        pytest.skip(f"{TARGET}: missing " + ", ".join(item.name for item in missing))
    dtypes = BUDGETS[request.param]["dtypes"]
    return kernel_sizes(TARGET, dtypes=dtypes, output=tmp_path_factory.mktemp(request.param))


def budget_of(measured: KernelSizes) -> dict:
    return next(row for row in BUDGETS.values() if tuple(row["dtypes"]) == measured.dtypes)


@pytest.mark.slow
def test_all_kernels_together_stay_within_their_budget(measured: KernelSizes) -> None:
    assert 10_000 < measured.total <= budget_of(measured)["total"]
    assert measured.total == sum(measured.sources.values()) + sum(measured.shared.values()) + measured.table


@pytest.mark.slow
def test_each_source_stays_within_its_budget(measured: KernelSizes) -> None:
    budget = budget_of(measured)
    sizes = {**measured.sources, **measured.shared, "operator_table": measured.table}
    limits = {source: budget["sources"].get(source, budget["source"]) for source in sizes}
    over = {source: (size, limits[source]) for source, size in sizes.items() if size > limits[source]}
    assert not over, f"bytes, and at most how many: {over}"


def test_every_limit_is_of_a_source() -> None:
    folder = Path(__file__).parents[2] / "kernels"
    for budget in BUDGETS.values():
        for source in budget["sources"]:
            assert source == "operator_table" or (folder / f"{source}.cpp").is_file(), source

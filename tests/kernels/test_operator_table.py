# SPDX-License-Identifier: BSD-3-Clause
"""kernels/ops.yaml against torch's own schemas and against the linked kernels."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rushlight.codegen.includes import shared_sources
from rushlight.codegen.table import load_table
from support.harness import Kernels, schema_of

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "kernels" / "ops.yaml"
SCHEMAS = [row["schema"] for row in yaml.safe_load(TABLE.read_text())["operators"]]

# Operators that write a scalar take it as an argument, which torch's schemas lack.
TENSOR_OPERATORS = [schema for schema in SCHEMAS if schema.startswith("aten::") and "Any(" not in schema]


def name_of(schema: str) -> str:
    """The operator's full name: the text before the arguments."""
    return schema.split("(", 1)[0]


@pytest.mark.parametrize("schema", TENSOR_OPERATORS, ids=name_of)
def test_a_row_spells_the_schema_as_torch_does(schema: str) -> None:
    assert str(schema_of(name_of(schema))) == schema


def test_rows_are_sorted_and_unique() -> None:
    names = [name_of(schema) for schema in SCHEMAS]
    assert names == sorted(set(names))


def test_everything_linked_has_a_row(kernels: Kernels) -> None:
    assert set(kernels.signatures) <= {name_of(schema) for schema in SCHEMAS}


@pytest.mark.parametrize("engine", ["matmul/activation", "geometry/convolution", "matmul/matmul"])
def test_a_shared_engine_has_the_dtypes_of_every_kernel_that_calls_it(engine: str) -> None:
    """Engines name the operators whose dtypes they are compiled for. Kernels of kernels/board have their own
    code."""
    source = ROOT / "kernels" / f"{engine}.cpp"
    table = load_table(TABLE)
    callers = [
        name
        for name, operator in table.operators.items()
        if source in shared_sources(ROOT, [table.source_path(operator)])[0]
    ]
    assert len(callers) > 1
    assert [name for name in callers if f'selected_types("{name}")' not in source.read_text()] == []

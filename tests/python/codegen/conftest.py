# SPDX-License-Identifier: BSD-3-Clause
"""A small operator table whose kernel sources are empty files."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushlight.codegen.table import OperatorTable, load_table

TABLE = """
dtypes:
  floating: [float16, bfloat16, float32, float64]
  real: [uint8, int8, int16, int32, int64, floating]
  all: [real, bool]
operators:
  - {schema: "aten::_to_copy.out(Tensor self, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)",
     kernel: to_copy_out, dtypes: all}
  - {schema: "aten::add.Scalar_out(Tensor self, Scalar other, Scalar alpha, *, Tensor(a!) out) -> Tensor(a!)",
     kernel: add_scalar_out, dtypes: all}
  - {schema: "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
     kernel: add_out, dtypes: all}
  - {schema: "aten::mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)",
     kernel: mm_out, dtypes: real}
  - {schema: "executorch_prim::add.Scalar(Any a, Any b, *, Any(a!) out) -> Any(a!)",
     kernel: prim_add, library: prim, source: arithmetic}
"""


@pytest.fixture
def table(tmp_path: Path) -> OperatorTable:
    """The table, in tmp_path/kernels."""
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / "ops.yaml").write_text(TABLE)
    loaded = load_table(kernels / "ops.yaml")
    for operator in loaded.operators.values():
        source = loaded.source_path(operator)
        source.parent.mkdir(exist_ok=True)
        source.touch()
    return loaded

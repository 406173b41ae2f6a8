# SPDX-License-Identifier: BSD-3-Clause
"""`rushlight new-op`, on a copy of the operator table."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from rushlight.cli.main import rushlight
from rushlight.codegen.new_operator import add_operator
from rushlight.codegen.table import load_table
from rushlight.errors import InvalidArgument, InvalidSelection

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = "aten::brighten.Scalar_out(Tensor self, Scalar by, *, Tensor(a!) out) -> Tensor(a!)"


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    """kernels/ with the table of this checkout and no sources."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    shutil.copy(ROOT / "kernels" / "ops.yaml", folder)
    return folder


def test_a_schema_becomes_a_row_in_its_place_and_a_source(kernels: Path) -> None:
    before = load_table(kernels / "ops.yaml").operators
    made = add_operator(kernels, SCHEMA, "real", "elementwise")
    after = load_table(kernels / "ops.yaml").operators
    assert set(after) - set(before) == {"aten::brighten.Scalar_out"}
    assert list(after) == sorted(after, key=str.encode)
    assert after["aten::brighten.Scalar_out"].kernel == "brighten_scalar_out"
    assert made.source == kernels / "operators" / "elementwise" / "op_brighten.cpp"
    text = made.source.read_text()
    assert (
        "Error brighten_scalar_out(KernelContext&, const Tensor& self, const Scalar& by, Tensor& out) {"
        in text
    )
    assert 'selected_types("aten::brighten.Scalar_out")' in text


def test_the_last_row_goes_to_the_end(kernels: Path) -> None:
    add_operator(kernels, SCHEMA.replace("aten::brighten", "zz::brighten"), "real")
    assert list(load_table(kernels / "ops.yaml").operators)[-1] == "zz::brighten.Scalar_out"


def test_a_source_that_is_there_is_left_alone(kernels: Path) -> None:
    source = kernels / "operators" / "elementwise" / "op_brighten.cpp"
    source.parent.mkdir(parents=True)
    source.write_text("mine")
    made = add_operator(kernels, SCHEMA, "real")
    assert (made.made_source, source.read_text()) == (False, "mine")


def test_a_name_is_looked_up_in_torch(kernels: Path) -> None:
    pytest.importorskip("torch", reason="torch, which knows the schemas, is not installed")
    table = kernels / "ops.yaml"
    rows = table.read_text()
    start = rows.index('  - schema: "aten::relu.out(')
    table.write_text(rows[:start] + rows[rows.index("  - schema:", start + 1) :])
    add_operator(kernels, "relu.out", "real")
    assert load_table(table).operators["aten::relu.out"].kernel == "relu_out"
    with pytest.raises(InvalidArgument, match="no such operator"):
        add_operator(kernels, "aten::no_such.out", "real")
    with pytest.raises(InvalidArgument, match=r"overloads: .*Tensor"):
        add_operator(kernels, "aten::add", "real")


@pytest.mark.parametrize(
    ("operator", "dtypes", "message"),
    [
        ("aten::add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "real", "has a row for it already"),
        ("aten::odd.out(Tensor self", "real", "no '\\)' closes"),
        (SCHEMA, "float33", "float33"),
    ],
)
def test_what_is_wrong_changes_nothing(kernels: Path, operator: str, dtypes: str, message: str) -> None:
    before = (kernels / "ops.yaml").read_text()
    with pytest.raises(InvalidSelection, match=message):
        add_operator(kernels, operator, dtypes)
    assert (kernels / "ops.yaml").read_text() == before
    assert [path.name for path in kernels.iterdir()] == ["ops.yaml"]


def test_the_command_says_what_it_wrote(kernels: Path) -> None:
    result = CliRunner().invoke(rushlight, ["new-op", SCHEMA, "--kernels", str(kernels)])
    assert result.exit_code == 0, result.output
    assert "a row for aten::brighten.Scalar_out" in result.output
    assert "op_brighten.cpp: written; fill in the kernel" in result.output

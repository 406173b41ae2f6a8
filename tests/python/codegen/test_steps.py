# SPDX-License-Identifier: BSD-3-Clause
"""Extracting, merging and resolving, each by itself, and that together they are what one command does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rushlight.codegen import __main__ as all_in_one
from rushlight.codegen import extract, merge, resolve
from rushlight.errors import InvalidArgument, OperatorNotFound
from rushlight.sources import source_root

pytestmark = pytest.mark.heavy

INTEROP = Path(__file__).parents[3] / "tests" / "interop"
SOFTPLUS = INTEROP / "softplus" / "model.pte"
CAT = INTEROP / "list_split_cat" / "model.pte"
XNNPACK = INTEROP / "model_mlp" / "model_xnnpack.pte"


def run(command: object, *words: object) -> None:
    assert command.main([str(word) for word in words]) == 0


def test_the_three_steps_give_what_one_command_gives(tmp_path: Path) -> None:
    for number, model in enumerate((SOFTPLUS, CAT, XNNPACK)):
        run(extract, model, "--output", tmp_path / f"{number}.yaml")
    files = [tmp_path / f"{number}.yaml" for number in range(3)]
    run(merge, *files, "--ops", "aten::mm.out", "--output", tmp_path / "all.yaml")
    steps, one = tmp_path / "steps", tmp_path / "one"
    run(resolve, tmp_path / "all.yaml", "--dtypes", "model", "--out", steps, "--output", tmp_path / "k.json")
    models = [word for model in (SOFTPLUS, CAT, XNNPACK) for word in ("--model", model)]
    run(all_in_one, *models, "--ops", "aten::mm.out", "--dtypes", "model", "--out", one)
    for name in ("operator_table.cpp", "rushlight/selected_dtypes.h", "selected_kernels.json"):
        assert (steps / name).read_text() == (one / name).read_text(), name
    kernels = json.loads((tmp_path / "k.json").read_text())
    assert kernels["operators"]["aten::exp.out"] == {
        "library": "optimized",
        "kernel": "rushlight::kernels::exp_out",
        "source": str(source_root() / "kernels" / "operators" / "elementwise" / "op_exp.cpp"),
        "back": str(source_root() / "kernels" / "host" / "unary.cpp"),
        "portable": False,
        "dtypes": ["float32"],
        "asked_by": ["softplus/model.pte"],
    }
    assert kernels["delegates"] == {"XnnpackBackend": ["model_mlp/model_xnnpack.pte"]}


MULS = ["softplus", "f64_mul"]  # float32 and float64


def mul_dtypes(folder: Path) -> list[str]:
    """The dtypes of aten::mul.out among what was generated in a folder."""
    kernels = json.loads((folder / "selected_kernels.json").read_text())
    return list(kernels["operators"]["aten::mul.out"]["dtypes"])


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_merged_files_keep_the_dtypes_of_each_and_a_list_every_dtype(
    order: tuple[int, int], tmp_path: Path
) -> None:
    """Files in either order; a list in a separate file, first or last; a list on the command line."""
    for number, name in enumerate(MULS):
        run(extract, INTEROP / name / "model.pte", "--output", tmp_path / f"{number}.yaml")
    run(merge, "--ops", "aten::mul.out", "--output", tmp_path / "list.yaml")
    models = [tmp_path / f"{number}.yaml" for number in order]
    both = ["float32", "float64"]
    for words, expected in (
        (models, both),
        ([tmp_path / "list.yaml", *models], None),
        ([*models, tmp_path / "list.yaml"], None),
        ([*models, "--ops", "aten::mul.out"], None),
    ):
        run(merge, *words, "--output", tmp_path / "all.yaml")
        generated = ["--out", tmp_path / "out", "--output", tmp_path / "k.json"]
        run(resolve, tmp_path / "all.yaml", "--dtypes", "model", *generated)
        found = mul_dtypes(tmp_path / "out")
        assert found == expected if expected else set(found) > {"float16", "bool", "int64", *both}, words


def test_merged_files_keep_dtypes_that_a_file_says_beside_those_of_a_model(tmp_path: Path) -> None:
    (tmp_path / "said.yaml").write_text("- op: mul.out\n  dtypes: [float16]\n")
    run(extract, INTEROP / "f64_mul" / "model.pte", "--output", tmp_path / "model.yaml")
    for words in (["said.yaml", "model.yaml"], ["model.yaml", "said.yaml"]):
        run(merge, *(tmp_path / name for name in words), "--output", tmp_path / "all.yaml")
        generated = ["--out", tmp_path / "out", "--output", tmp_path / "k.json"]
        run(resolve, tmp_path / "all.yaml", "--dtypes", "model", *generated)
        assert mul_dtypes(tmp_path / "out") == ["float16", "float64"]


def test_a_missing_operator_and_a_missing_file_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(merge, "--ops", "aten::exp.out,my::none.out", "--output", tmp_path / "a.yaml")
    assert resolve.main([str(tmp_path / "a.yaml")]) == OperatorNotFound.exit_code
    assert "my::none.out, asked for by the operator list" in capsys.readouterr().err
    assert extract.main([str(tmp_path / "no.pte")]) == InvalidArgument.exit_code
    assert "no.pte" in capsys.readouterr().err


def test_a_backend_that_is_not_in_the_build_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(all_in_one, "--model", XNNPACK, "--out", tmp_path)
    assert "backend XnnpackBackend, which model_mlp/model_xnnpack.pte delegates" in capsys.readouterr().out
    run(all_in_one, "--model", XNNPACK, "--out", tmp_path, "--backend", "XnnpackBackend", "x.h", "x")
    assert "backend" not in capsys.readouterr().out

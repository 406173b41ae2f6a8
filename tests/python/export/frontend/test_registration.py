# SPDX-License-Identifier: BSD-3-Clause
"""Kernel libraries, whose operators PyTorch gets to know by their schemas and a reference."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from rushlight.errors import InvalidSelection
from rushlight.export import export, register_custom_operators

REFERENCE = """
import torch

def twice(x):
    return x * 2

def halves(x, at, names=(), *, scale=1.0):
    return x[..., :at] * scale, x[..., at:] * scale
"""
TWICE = "{space}::twice.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"
HALVES = (
    "{space}::halves.Many_out(Tensor x, int at, int[2] names=[0, 1], *, float scale=1.0, Tensor(a!) first, "
    "Tensor(b!) second) -> (Tensor(a!), Tensor(b!))"
)


def library(folder: Path, space: str, *schemas: str, reference: str = REFERENCE) -> Path:
    rows = [
        f'  - schema: "{schema.format(space=space)}"\n    kernel: {space}::kernel_{i}\n    dtypes: floating\n'
        for i, schema in enumerate(schemas)
    ]
    kernels = [f"Error kernel_{i}() {{}}\n" for i in range(len(schemas))]
    (folder / "ops.yaml").write_text(f"library: {space}\noperators:\n{''.join(rows)}")
    (folder / "kernels.cpp").write_text("".join(kernels))
    (folder / "reference.py").write_text(reference)
    return folder


def test_both_overloads_compute_what_the_reference_does(tmp_path: Path) -> None:
    folder = library(tmp_path, "reg_both", TWICE, HALVES)
    assert register_custom_operators([folder]) == ["reg_both::twice.out", "reg_both::halves.Many_out"]
    x = torch.arange(6.0).reshape(2, 3)
    out = torch.empty(0)
    assert torch.equal(torch.ops.reg_both.twice(x), x * 2)
    assert torch.equal(torch.ops.reg_both.twice.out(x, out=out), x * 2) and torch.equal(out, x * 2)
    first, second = torch.ops.reg_both.halves.Many(x, 1, scale=3.0)
    assert torch.equal(first, x[:, :1] * 3) and torch.equal(second, x[:, 1:] * 3)


def test_an_operator_that_pytorch_knows_stays(tmp_path: Path) -> None:
    folder = library(tmp_path, "reg_again", TWICE)
    assert register_custom_operators([folder]) == ["reg_again::twice.out"]
    (folder / "reference.py").write_text("def twice(x): return x * 5")
    assert register_custom_operators([folder, folder / "ops.yaml"]) == []
    assert torch.ops.reg_again.twice(torch.ones(1)).item() == 2


def test_export_registers_and_keeps_the_operator_whole(tmp_path: Path) -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ops.reg_export.twice(x) + 1

    batch = torch.export.Dim("batch", min=1, max=8)
    folder = library(tmp_path, "reg_export", TWICE)
    exported = export(Model(), (torch.ones(3, 2),), dynamic_shapes=({0: batch},), custom_ops=[folder])
    assert exported.parts.methods[0].operators == ("reg_export::twice.out", "aten::add.Scalar_out")


def test_a_reference_that_lacks_the_function_is_told(tmp_path: Path) -> None:
    folder = library(tmp_path, "reg_lacks", TWICE, reference="")
    with pytest.raises(InvalidSelection, match=r"reference.py: expected a function 'twice'"):
        register_custom_operators([folder])


def test_libraries_without_a_reference_are_passed_over(tmp_path: Path) -> None:
    folder = library(tmp_path, "reg_none", TWICE)
    (folder / "reference.py").unlink()
    assert register_custom_operators([folder]) == []
    assert not hasattr(torch.ops.reg_none, "twice")

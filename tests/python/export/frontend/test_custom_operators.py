# SPDX-License-Identifier: BSD-3-Clause
"""Operators of a user's own, registered with torch.library, with a YAML file for their kernels."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from rushlight.errors import InvalidSelection, NotExportable
from rushlight.export import export

OUT = "rushlight_tests::triple.out(Tensor x, float bias, *, Tensor(a!) out) -> Tensor(a!)"


@torch.library.custom_op("rushlight_tests::triple", mutates_args=())
def triple(x: torch.Tensor, bias: float) -> torch.Tensor:
    return x * 3 + bias


@triple.register_fake
def _(x: torch.Tensor, bias: float) -> torch.Tensor:
    return torch.empty_like(x)


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(triple(x + 1, 2))


INPUTS = (torch.randn(3),)


def write(path: Path, extra: str = "") -> Path:
    path.write_text(
        f"- func: {OUT}\n  kernels:\n  - arg_meta: null\n    kernel_name: mine::triple_out\n{extra}"
    )
    return path


def operators(**options: object) -> tuple[str, ...]:
    return export(Model(), INPUTS, **options).parts.methods[0].operators


def test_an_operator_of_a_yaml_file_is_called_by_its_out_overload(tmp_path: Path) -> None:
    found = operators(custom_ops=[write(tmp_path / "custom_ops.yaml")])
    assert found == ("aten::add.Scalar_out", "rushlight_tests::triple.out", "aten::relu.out")


def test_a_schema_will_do() -> None:
    assert "rushlight_tests::triple.out" in operators(custom_ops=[OUT])


def test_an_int_for_a_float_is_stored_as_a_double() -> None:
    exported = export(Model(), INPUTS, custom_ops=[OUT])
    (arguments,) = [a for name, a in exported.parts.methods[0].calls() if name.endswith("triple.out")]
    assert type(arguments[1].data) is float


def test_without_it_the_line_of_the_call_is_told() -> None:
    with pytest.raises(NotExportable, match=r"triple") as caught:
        export(Model(), INPUTS)
    assert f"{__file__}:" in caught.value.problems[0].where


def test_dtypes_that_the_kernel_lacks_are_told(tmp_path: Path) -> None:
    path = write(tmp_path / "custom_ops.yaml", "    dtypes: [Int]\n")
    with pytest.raises(NotExportable, match=r"has no float32"):
        export(Model(), INPUTS, custom_ops=[path])


def test_kernels_for_operators_of_pytorch_may_stand_in_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "custom_ops.yaml", "- op: add.out\n  kernels: []\n")
    assert "rushlight_tests::triple.out" in operators(custom_ops=[path])


def test_a_functional_schema_is_refused() -> None:
    with pytest.raises(InvalidSelection, match="expected an out overload"):
        export(Model(), INPUTS, custom_ops=["rushlight_tests::triple(Tensor x, float bias) -> Tensor"])

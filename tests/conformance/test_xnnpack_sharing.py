# SPDX-License-Identifier: BSD-3-Clause
"""Weights shared by delegates of official files are packed once, and weights in data files are converted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("executorch.backends.xnnpack.partition.xnnpack_partitioner", reason="no executorch")

from click.testing import CliRunner  # noqa: E402
from torch import nn  # noqa: E402

import rushlight  # noqa: E402
from rushlight.cli.main import rushlight as command  # noqa: E402
from rushlight.errors import RushlightError  # noqa: E402
from rushlight.program import read_model  # noqa: E402
from rushlight.run.check import check  # noqa: E402
from support.official_xnnpack import (  # noqa: E402
    Lowered,
    assert_same,
    lower,
    lower_methods,
    official_outputs,
    own_outputs,
    quantized,
)

pytestmark = pytest.mark.conformance

WIDE = 300


def prepared(program: Any, method: str = "forward") -> int:
    return int(program.load_method(method).memory()["delegates"]["prepared"])


class Twice(nn.Module):
    """One layer in two delegates: the official partitioner leaves the operator between them."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(WIDE, WIDE)

    def forward(self, x: Any) -> Any:
        return self.layer(torch.cumsum(self.layer(x), 1))


@pytest.mark.parametrize("load_mode", ["mmap", "file"])
@pytest.mark.parametrize("kind", ["float", "int8"])
def test_two_delegates_with_the_same_weights_pack_them_once(
    kind: str, load_mode: Any, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    calls = [(torch.randn(3, WIDE),) for _ in range(2)]

    def made(module: nn.Module) -> Lowered:
        return lower(module if kind == "float" else quantized(module, calls[0], dynamic=True), calls[0])

    twice, once = made(Twice().eval()), made(nn.Linear(WIDE, WIDE).eval())
    for name, lowered in (("twice", twice), ("once", once)):
        (tmp_path / f"{name}.pte").write_bytes(lowered.data)
    sizes = [
        prepared(rushlight.load(tmp_path / f"{name}.pte", threads=1, load_mode=load_mode))
        for name in ("twice", "once")
    ]
    assert len(read_model(memoryview(twice.data)).plans[0].delegates) == 2
    assert 0 < sizes[0] == sizes[1]
    assert_same(own_outputs(twice.data, calls), official_outputs(twice, calls), 2e-4)


def test_methods_with_the_same_weights_pack_them_once() -> None:
    torch.manual_seed(0)
    layer = nn.Linear(WIDE, 20).eval()
    wide, narrow = torch.randn(6, WIDE), torch.randn(2, WIDE)
    methods = {
        "encode": torch.export.export(nn.Sequential(layer, nn.ReLU()), (wide,)),
        "decode": torch.export.export(layer, (narrow,)),
    }
    lowered = lower_methods(methods)
    program = rushlight.load(lowered.data, threads=1)
    encode = program.load_method("encode")
    assert encode.memory()["delegates"]["prepared"] > 4 * WIDE * 20
    del encode  # its packed weights and their constants stay
    assert prepared(program, "decode") == 0
    (expected,) = official_outputs(lowered, [(narrow,)], "decode")
    found = program.load_method("decode").execute([narrow.numpy()])
    np.testing.assert_allclose(found[0], expected[0].numpy(), rtol=1e-5, atol=1e-5)


def with_weights_apart(folder: Path) -> tuple[Path, Path, list[Any], list[Any]]:
    """A program, its data file, calls and official outputs."""
    torch.manual_seed(0)
    calls = [(torch.randn(3, WIDE),) for _ in range(2)]
    module = Twice().eval()
    exported = torch.export.export(module, calls[0])
    for node in exported.graph.nodes:
        if node.name in exported.graph_signature.inputs_to_parameters:
            node.meta.setdefault("custom", {})["delegate_constant_tag"] = "weights"
    lowered = lower_methods({"forward": exported})
    model, data = folder / "model.pte", folder / "weights.ptd"
    model.write_bytes(lowered.data)
    data.write_bytes(lowered.data_files["weights"])
    return model, data, calls, official_outputs(lower(module, calls[0]), calls)


def test_weights_of_a_data_file_are_converted(tmp_path: Path) -> None:
    model, data, calls, expected = with_weights_apart(tmp_path)
    output = tmp_path / "plain.pte"
    done = CliRunner().invoke(command, ["convert", str(model), "-o", str(output), "--data", str(data)])
    assert done.exit_code == 0, done.output
    assert "2 delegates became plain calls" in done.output
    assert model.stat().st_size < 4 * WIDE * WIDE < output.stat().st_size < 8 * WIDE * WIDE
    assert_same(own_outputs(output.read_bytes(), calls), expected, 1e-5)


def test_without_its_data_file_a_delegate_stays(tmp_path: Path) -> None:
    model, data, _, _ = with_weights_apart(tmp_path)
    output = tmp_path / "plain.pte"
    done = CliRunner().invoke(command, ["convert", str(model), "-o", str(output)])
    assert done.exit_code == 0 and not output.exists()
    assert "named data" in done.output
    assert not check(model).runs
    assert check(model, data_files=[data]).runs
    with pytest.raises(RushlightError):
        rushlight.load(model).load_method("forward")


@pytest.mark.heavy
def test_a_program_with_its_weights_apart_runs_from_the_command_line(tmp_path: Path) -> None:
    model, data, _, _ = with_weights_apart(tmp_path)
    done = CliRunner().invoke(command, ["run", str(model), "--data", str(data)])
    assert done.exit_code == 0, done.output

# SPDX-License-Identifier: BSD-3-Clause
"""Programs of several methods, constant methods, data files and bundled programs."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch import Tensor, nn  # noqa: E402

import rushlight  # noqa: E402
from rushlight.errors import InvalidArgument, RushlightError  # noqa: E402
from rushlight.export import MethodSource  # noqa: E402
from support.export.exported import compare_outputs, official_operators, run_officially, run_ours  # noqa: E402

X = torch.randn(2, 16)


class Coder(nn.Module):
    """Two halves with one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(16, 16))

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight


class Decoder(nn.Module):
    def __init__(self, coder: Coder) -> None:
        super().__init__()
        self.coder = coder

    def forward(self, x: Tensor, scale: Tensor) -> Tensor:
        return x @ self.coder.weight.t() * scale


def both(program: bytes, method: str, inputs: list[Tensor]) -> list[list[object]]:
    """The outputs on our runtime, and on the official one where that is installed."""
    results = [run_ours(program, [inputs], method)[0]]
    if official_operators():
        results.append(run_officially(program, [inputs], method)[0])
    return results


def test_methods_share_their_weights() -> None:
    coder = Coder()
    decoder = Decoder(coder)
    scale = torch.tensor(0.5)
    exported = rushlight.export(
        {"encode": MethodSource(coder, (X,)), "decode": MethodSource(decoder, (X, scale))}
    )
    program = exported.buffer
    for method, model, inputs in (("encode", coder, [X]), ("decode", decoder, [X, scale])):
        for outputs in both(program, method, inputs):
            assert compare_outputs(outputs, [model(*inputs)]).passed
    assert rushlight.load(program).method_names == ["encode", "decode"]
    assert exported.report.constant_bytes < 2.5 * coder.weight.nbytes  # at most one transposed copy


def test_constant_methods_return_what_they_were_given() -> None:
    values = {"get_name": "hello", "get_size": 123, "get_rate": 0.5, "is_fast": True, "get_table": X}
    exported = rushlight.export(Coder(), (X,), constant_methods=values)
    for method, value in values.items():
        for outputs in both(exported.buffer, method, []):
            assert compare_outputs(outputs, [value]).passed, method


def test_weights_may_be_in_a_data_file(tmp_path: Path) -> None:
    coder = Coder()
    exported = rushlight.export(coder, (X,), external=True)
    exported.save(tmp_path / "model.pte")
    [data] = tmp_path.glob("*.ptd")
    assert (tmp_path / "model.pte").stat().st_size < coder.weight.nbytes + 1024 < data.stat().st_size + 1024
    model = (tmp_path / "model.pte").read_bytes()
    [ours] = run_ours(model, [[X]], data_files=[data])
    assert compare_outputs(ours, [coder(X)]).passed
    if official_operators():
        [theirs] = run_officially(model, [[X]], data_file=data)
        assert compare_outputs(theirs, [coder(X)]).passed
    with pytest.raises(RushlightError, match="weight"):
        run_ours(model, [[X]])


def test_only_the_chosen_weights_go_into_the_data_file(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(16, 16), nn.Linear(16, 4))
    exported = rushlight.export(model, (X,), external=lambda name: name.startswith("1."))
    exported.save(tmp_path / "model.pte")
    [data] = tmp_path.glob("*.ptd")
    names = {entry.key for entry in rushlight.program.read_data_file(data).entries}
    assert names == {"1.weight", "1.bias"}
    [outputs] = run_ours((tmp_path / "model.pte").read_bytes(), [[X]], data_files=[data])
    assert compare_outputs(outputs, [model(X)]).passed


def test_methods_bring_their_own_inputs() -> None:
    with pytest.raises(InvalidArgument, match="MethodSource"):
        rushlight.export({"forward": Coder()}, (X,))


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", ["encoder", "convolutions"])
def test_a_bundle_of_a_real_layer_passes_where_it_was_made(tmp_path: Path, kind: str, seed: int) -> None:
    torch.manual_seed(seed)
    if kind == "encoder":
        model, x = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), torch.randn(1, 16, 64)
    else:
        layers = [nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.Flatten(), nn.Linear(32 * 144, 10)]
        model, x = nn.Sequential(*layers), 30 * torch.randn(1, 3, 16, 16)
    rushlight.export(model.eval(), (x,)).save_bundled(tmp_path / "model.bpte")
    assert rushlight.verify_bundled_program(tmp_path / "model.bpte").passed


def test_a_bundled_program_holds_to_its_own_expectations(tmp_path: Path) -> None:
    exported = rushlight.export(Coder(), (X,))
    exported.save_bundled(tmp_path / "model.bpte", {"forward": [(X,), (X * 2,)]})
    assert rushlight.verify_bundled_program(tmp_path / "model.bpte").passed


def test_cases_of_a_method_that_is_not_there_are_refused(tmp_path: Path) -> None:
    exported = rushlight.export(Coder(), (X,))
    with pytest.raises(InvalidArgument, match="forward"):
        exported.save_bundled(tmp_path / "model.bpte", {"backward": [(X,)]})

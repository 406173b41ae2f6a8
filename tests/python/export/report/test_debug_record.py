# SPDX-License-Identifier: BSD-3-Clause
"""The debug record of exported programs: lines, modules, nodes, and handles that pass through delegates."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="exports models")

from rushlight.export import export  # noqa: E402
from rushlight.export.delegate import PreprocessResult  # noqa: E402
from rushlight.program import record_beside  # noqa: E402
from rushlight.program.debug import InstructionOrigin  # noqa: E402
from support.example_backends import Tape, TapePartitioner  # noqa: E402

X = torch.randn(2, 3)


class Block(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x)  # inner


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block = Block()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.block(x)  # outer
        y = torch.cond(y.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (y,))  # branch
        return torch.atan(y)  # last


class Arithmetic(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x * x - x)


def origins(exported: Any) -> list[InstructionOrigin]:
    return list(exported.debug.method("forward").instructions)


def step_of(origin: InstructionOrigin) -> str:
    """The comment on the line that an instruction is from."""
    assert origin.line is not None and origin.line.file == __file__
    assert origin.line.code in inspect.getsource(inspect.getmodule(Model))
    return origin.line.code.rpartition("# ")[2]


def test_instructions_have_the_innermost_line_of_the_model_and_its_modules() -> None:
    found = {origin.operator: origin for origin in origins(export(Model(), (X,)))}
    inner, last = found["aten::tanh.out"], found["aten::atan.out"]
    assert (step_of(inner), step_of(last)) == ("inner", "last")
    assert [step.code.rpartition("# ")[2] for step in inner.frames] == ["outer", "inner"]
    assert [(step.path, step.type) for step in inner.modules] == [("", "Model"), ("block", "Block")]
    assert {step_of(found[name]) for name in ("aten::sin.out", "aten::cos.out")} == {"branch"}


def test_every_node_has_a_handle_of_its_own() -> None:
    exported = export(Model(), (X,))
    by_node: dict[str, set[int]] = {}
    for origin in origins(exported):
        assert len(origin.handles) == 1 and origin.handles[0] > 0
        by_node.setdefault(origin.node, set()).update(origin.handles)
    assert len(by_node["atan"] | by_node["tanh"]) == 2
    assert exported.debug.debug_handle_map()["forward"].keys() == {o.index for o in origins(exported)}


def test_the_record_is_saved_beside_the_program_when_asked(tmp_path: Path) -> None:
    exported = export(Model(), (X,))
    exported.save(tmp_path / "plain.pte")
    assert record_beside(tmp_path / "plain.pte", exported.program) is None
    exported.save(tmp_path / "model.pte", debug=True)
    assert record_beside(tmp_path / "model.pte", exported.program) == exported.debug


def test_handles_inside_of_a_delegate_are_those_of_its_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    preprocess = Tape.preprocess

    def telling(program: Any, specs: Any) -> PreprocessResult:
        result = preprocess(program, specs)
        calls = program.graph.find_nodes(op="call_function", target=torch.ops.aten.mul.Tensor)
        calls += program.graph.find_nodes(op="call_function", target=torch.ops.aten.sub.Tensor)
        seen.extend(node.meta["debug_handle"] for node in calls)
        return PreprocessResult(
            result.processed_bytes,
            {0: (seen[0],), 1: tuple(seen)},
            data_store_output=result.data_store_output,
        )

    monkeypatch.setattr(Tape, "preprocess", staticmethod(telling))
    exported = export(Arithmetic(), (X,), partitioner=TapePartitioner(torch.float32, 2, 3))
    call, outside = origins(exported)
    assert len(set(seen)) == 2 and outside.operator == "aten::tanh.out"
    assert call.delegate_handles == {"0": (seen[0],), "1": tuple(seen)}
    assert not {*call.handles, *outside.handles} & set(seen)
    inside = {"0": [seen[0]], "1": seen}
    assert exported.debug.delegate_map() == {
        "forward": {call.index: {"name": call.operator, "delegate_map": inside}}
    }

# SPDX-License-Identifier: BSD-3-Clause
"""The command line of an executable on a target, and the handling of its files. Nothing is started here."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rushlight.errors import InvalidArgument, TargetCrashed
from rushlight.program import read_model
from rushlight.run.api import run
from rushlight.run.cases import case_of_ones
from rushlight.run.on_target import BakedProgram, Interpreter
from rushlight.run.prepared import PreparedCase, prepare_case
from rushlight.run.runner import Limits
from rushlight.trace.request import TraceLoss, TraceRequest

INTEROP = Path(__file__).parents[2] / "interop"
PLAIN = INTEROP / "dynamic_mlp" / "model.pte"
BUNDLED = INTEROP / "bundled" / "model.bpte"
BUILT: Any = SimpleNamespace(executable=Path("runner"))


def response(output: np.ndarray) -> bytes:
    """A response to one call with one float32 output, as runtime/runner/case_stream.h has it."""
    sizes = struct.pack(f"<{output.ndim}i", *output.shape)
    return b"".join(
        [
            struct.pack("<4s3I8Q", b"RLIO", 1, 0, 0, *range(8)),
            struct.pack("<4I2Q", 0, 1, 0, 0, 7, 9),
            struct.pack("<4I", 1, 6, output.ndim, output.nbytes),
            sizes + bytes(-len(sizes) % 16),
            output.tobytes(),
        ]
    )


@dataclass
class FakeTarget:
    """Keeps what it is started with, and leaves the files that an executable would have written."""

    files: dict[str, bytes]
    kind: str = "linux"
    name: str = "fake"
    words: list[str] = field(default_factory=list)
    given: dict[str, tuple[bytes, bool]] = field(default_factory=dict)
    """Contents by name, and whether it was a link."""

    def run(self, _executable: Path, arguments: list[str], work: Path, _timeout: float) -> Any:
        self.words = arguments
        self.given = {path.name: (path.read_bytes(), path.is_symlink()) for path in work.iterdir()}
        for name, data in self.files.items():
            (work / name).write_bytes(data)
        return SimpleNamespace(returncode=0, stdout="", stderr="")


def prepared(model: Path) -> PreparedCase:
    return prepare_case(model, case_of_ones(read_model(model), "forward"), {})


def target(**changes: Any) -> Any:
    output = np.arange(32, dtype=np.float32).reshape(4, 8)
    outcome = b"RLOC" + struct.pack("<5I", 0, 3, 4, 0, 0)
    return FakeTarget(**({"files": {"response": response(output), "outcome": outcome}} | changes))


def test_a_runner_is_given_the_model_and_the_limits() -> None:
    fake = target()
    results = Interpreter(fake, BUILT, False, Limits(5.0, 100, 2000), prepare=False).run(prepared(PLAIN))
    assert fake.words[3:] == [
        "--model_path=file0",
        "--prepare=0",
        "--max_instructions=100",
        "--max_memory=2000",
    ]
    assert fake.given["file0"] == (PLAIN.read_bytes(), True)
    assert (results.build, results.trace_loss, results.calls[0].instructions) == (BUILT, None, 7)
    assert results.calls[0].outputs[0].tolist() == np.arange(32).reshape(4, 8).tolist()


def test_a_model_that_is_linked_in_is_not_given() -> None:
    fake = target()
    Interpreter(fake, BUILT, True, Limits()).run(prepared(PLAIN))
    assert fake.words == ["--inputs=request", "--outputs=response", "--outcome=outcome"]
    assert list(fake.given) == ["request"]


def test_an_engine_that_follows_no_links_gets_copies() -> None:
    fake = target(kind="wasi")
    Interpreter(fake, BUILT, False, Limits()).run(prepared(PLAIN))
    assert fake.given["file0"] == (PLAIN.read_bytes(), False)


def test_a_bundled_program_is_given_without_its_bundle() -> None:
    fake, ready = target(), prepared(BUNDLED)
    Interpreter(fake, BUILT, False, Limits()).run(ready)
    assert fake.given["file0"] == (ready.data, False) and len(ready.data) < BUNDLED.stat().st_size


def test_a_trace_says_what_it_lost(tmp_path: Path) -> None:
    fake = target()
    fake.files["trace.etdp"] = b"events"
    trace = TraceRequest(tmp_path / "trace.etdp")
    results = Interpreter(fake, BUILT, True, Limits(), trace=trace).run(prepared(PLAIN))
    assert results.trace_loss == TraceLoss(3, 4) and trace.etdump.read_bytes() == b"events"


@pytest.mark.parametrize("missing", ["response", "outcome"])
def test_an_executable_that_writes_no_response_has_crashed(missing: str) -> None:
    fake = target()
    del fake.files[missing]
    with pytest.raises(TargetCrashed, match="'fake': the runner ended without a response"):
        Interpreter(fake, BUILT, True, Limits()).run(prepared(PLAIN))


@pytest.mark.parametrize(
    ("names", "expected"), [(["other"], "other"), (["other", "dynamic_mlp"], "dynamic_mlp")]
)
def test_a_baked_program_is_named_like_its_model_or_the_only_one(names: list[str], expected: str) -> None:
    fake = target()
    baked: Any = SimpleNamespace(programs=[SimpleNamespace(name=name) for name in names], result=BUILT)
    BakedProgram(fake, baked, Limits()).run(prepared(PLAIN))
    assert fake.words[3:] == [f"--program={expected}"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"baked": True, "max_memory": 1},
            "max_instructions, max_memory: expected no limits for a baked program",
        ),
        (
            {"baked": True, "trace": TraceRequest(Path("trace.etdp"))},
            "trace: expected an interpreted program, got a baked one",
        ),
        (
            {"target": "cortex-m55", "max_instructions": 1},
            "max_instructions, max_memory: expected no limits for target cortex-m55",
        ),
    ],
)
def test_what_a_runner_cannot_do_is_refused_before_it_is_built(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    case = case_of_ones(read_model(PLAIN), "forward")
    with pytest.raises(InvalidArgument, match=message):
        run(PLAIN, case, build_folder=tmp_path / "build", **options)
    assert not (tmp_path / "build").exists()

# SPDX-License-Identifier: BSD-3-Clause
"""Traces that targets record in fixed memory and return."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rushlight import targets
from rushlight.run.api import run
from rushlight.run.cases import load_case
from rushlight.trace.profile import profile, read_events
from rushlight.trace.request import TraceRequest

pytestmark = pytest.mark.device

INTEROP = Path(__file__).parents[1] / "interop"


@pytest.mark.parametrize(
    "traced_target",
    [
        pytest.param(name, marks=[getattr(pytest.mark, name.replace("-", "_"))])
        for name in ("cortex-m55", "rv32imafc", "linux-aarch64")
    ],
)
def test_a_target_hands_back_times_and_values(traced_target: str, tmp_path: Path) -> None:
    if missing := targets.get(traced_target).requirements():
        pytest.skip(f"{traced_target}: missing " + ", ".join(item.name for item in missing))
    model = INTEROP / "model_dscnn" / "model.pte"
    case = load_case(model.with_name("case.json"))
    request = TraceRequest(tmp_path / "a.etdp", 16384, tmp_path / "a.bin", 1 << 20)
    outcome = run(model, case, target=traced_target, build_folder=tmp_path / "build", trace=request)
    assert outcome.passed
    assert outcome.trace_loss is not None
    assert (outcome.trace_loss.events, outcome.trace_loss.values) == (0, 0)
    trace = (tmp_path / "a.etdp").read_bytes()
    assert trace[8:12] == b"ED00" and int.from_bytes(trace[:4], "little") == len(trace) - 4 < 16384
    for name in (b"Method::init", b"Method::execute", b"OPERATOR_CALL", b"native_call_convolution.out"):
        assert name + b"\0" in trace
    # An emulated core measures time in instructions only.
    told = profile(read_events(tmp_path / "a.etdp"))
    if counted := outcome.calls[-1].result.instructions:
        assert told.unit == "instructions" and 0.8 * counted < told.execute / told.runs < counted
    else:
        assert told.unit == "ns"
    # The method's output is logged last.
    expected = outcome.calls[-1].result.outputs[0]
    values = np.frombuffer((tmp_path / "a.bin").read_bytes()[-expected.nbytes :], expected.dtype)
    np.testing.assert_array_equal(values, expected.ravel())

    small = TraceRequest(tmp_path / "b.etdp", 2048)
    outcome = run(model, case, target=traced_target, build_folder=tmp_path / "build", trace=small)
    assert outcome.passed and outcome.trace_loss is not None
    assert outcome.trace_loss.events > 20 and (tmp_path / "b.etdp").stat().st_size <= 2048

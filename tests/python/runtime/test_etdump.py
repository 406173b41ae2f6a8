# SPDX-License-Identifier: BSD-3-Clause
"""Traces from Python, as the official runtime API spells them."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

import rushlight
from rushlight.errors import InvalidArgument
from rushlight.runtime import Runtime
from rushlight.trace.profile import read_events

MODEL = Path(__file__).parents[2] / "interop" / "cond_sum" / "model.pte"
ONES = np.ones((3, 4), np.float32)
LOADING = ["Method::init", "Program::load_method"]


def names(path: Path) -> list[str]:
    return [event.name for event in read_events(path)]


def test_a_trace_holds_what_ran_since_the_last_one(tmp_path: Path) -> None:
    program = Runtime.get().load_program(MODEL, enable_etdump=True)
    method = program.load_method("forward")
    method.execute([ONES])
    program.write_etdump_result_to_file(tmp_path / "first.etdp")
    first = names(tmp_path / "first.etdp")
    assert first[:2] == LOADING and first[-1] == "Method::execute" and "native_call_sum.IntList_out" in first
    method.execute([ONES])
    program.write_etdump_result_to_file(tmp_path / "second.etdp")
    assert names(tmp_path / "second.etdp") == first[2:]


def test_operators_leave_what_they_put_out_in_the_debug_buffer(tmp_path: Path) -> None:
    program = rushlight.load(MODEL, enable_etdump=True, debug_buffer_size=100_000)
    (output,) = program.forward(ONES)
    program.write_etdump_result_to_file(tmp_path / "a.etdp", tmp_path / "a.bin")
    logged = (tmp_path / "a.bin").read_bytes()
    assert np.frombuffer(logged[:4], np.float32)[0] == ONES.sum()
    np.testing.assert_array_equal(np.frombuffer(logged[-output.nbytes :], np.float32), output.ravel())
    assert program.etdump_loss() == (0, 0)


def test_values_that_do_not_fit_are_counted(tmp_path: Path) -> None:
    program = rushlight.load(MODEL, enable_etdump=True, debug_buffer_size=8)
    program.forward(ONES)
    events, values = program.etdump_loss()
    assert events == 0 and values > 0


def test_methods_on_several_threads_leave_whole_blocks(tmp_path: Path) -> None:
    program = rushlight.load(MODEL.read_bytes(), enable_etdump=True)
    methods = [program.load_method("forward") for _ in range(4)]

    def work(method: rushlight.runtime.Method) -> None:
        for _ in range(25):
            method.execute([ONES])

    threads = [threading.Thread(target=work, args=(method,)) for method in methods]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    program.write_etdump_result_to_file(tmp_path / "a.etdp")
    ran = names(tmp_path / "a.etdp")[2 * len(methods) :]
    once = ran[: ran.index("Method::execute") + 1]
    assert ran == once * 100


def test_a_program_without_a_trace_says_so(tmp_path: Path) -> None:
    program = rushlight.load(MODEL)
    program.forward(ONES)
    with pytest.raises(InvalidArgument, match="enable_etdump"):
        program.write_etdump_result_to_file(tmp_path / "a.etdp")


def test_a_place_that_cannot_be_written_is_an_os_error(tmp_path: Path) -> None:
    program = rushlight.load(MODEL, enable_etdump=True)
    with pytest.raises(FileNotFoundError):
        program.write_etdump_result_to_file(tmp_path / "absent" / "a.etdp")

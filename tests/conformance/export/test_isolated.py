# SPDX-License-Identifier: BSD-3-Clause
"""Functions in separate processes: a crash or a hang is reported, and the next call works."""

from __future__ import annotations

import os
import time

import pytest

from support.export.isolated import Crashed, Hung, Isolated, Raised, call_each


def act(what: str) -> str:
    """Returns, crashes, hangs or raises, as `what` says."""
    if what == "abort":
        os.abort()
    if what == "hang":
        time.sleep(60)
    if what == "raise":
        raise ValueError("as told")
    return what.upper()


def test_a_process_that_ends_or_hangs_is_started_again() -> None:
    with Isolated(act) as process:
        assert process.call("a") == "A"
        with pytest.raises(Crashed, match="SIGABRT"):
            process.call("abort")
        assert process.call("b") == "B"
        with pytest.raises(Hung):
            process.call("hang", seconds=0.2)
        with pytest.raises(Raised, match="ValueError: as told"):
            process.call("raise")
        assert process.call("c") == "C"


def test_every_item_gets_its_result() -> None:
    results = dict(call_each(act, ["a", "abort", "b", "raise"], 2))
    assert (results[0], results[2]) == ("A", "B")
    assert isinstance(results[1], Crashed) and isinstance(results[3], Raised)

# SPDX-License-Identifier: BSD-3-Clause
"""The names under which ExecuTorch's Python runtime offers the same."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from rushlight.errors import InvalidProgram, MethodNotFound
from rushlight.runtime import Runtime, Verification
from support.programs import Plan, program, scalar, tensor

ECHO = program(Plan(values=[tensor("float32"), scalar(1)], inputs=[0], outputs=[0]))


def test_there_is_one_runtime() -> None:
    assert Runtime.get() is Runtime.get()


@pytest.mark.parametrize("verification", list(Verification))
def test_a_program_is_loaded_and_executed(verification: Verification, tmp_path: Path) -> None:
    path = tmp_path / "echo.pte"
    path.write_bytes(ECHO)
    for source in (path, str(path), ECHO, io.BytesIO(ECHO)):
        loaded = Runtime.get().load_program(source, verification=verification)
        assert loaded.method_names == {"forward"}
        [out] = loaded.load_method("forward").execute([np.float32([1, 2])])
        np.testing.assert_array_equal(out, [1, 2])


@pytest.mark.parametrize("verification", list(Verification))
def test_everything_is_verified_at_either_level(verification: Verification) -> None:
    with pytest.raises(InvalidProgram):
        Runtime.get().load_program(ECHO[:-20], verification=verification)


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(MethodNotFound, match="backward"):
        Runtime.get().load_program(ECHO).load_method("backward")


def test_the_registries_tell_what_is_linked() -> None:
    names = Runtime.get().operator_registry.operator_names
    assert all("::" in name for name in names)
    backends = Runtime.get().backend_registry
    assert backends.registered_backend_names == ["XnnpackBackend"]
    assert backends.is_available("XnnpackBackend")
    assert not backends.is_available("AcmpackBackend")

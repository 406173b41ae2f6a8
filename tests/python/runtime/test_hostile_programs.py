# SPDX-License-Identifier: BSD-3-Clause
"""Sound files with hostile meaning load and run to an end: a result, or an error that names the operator.

tests/fuzz runs the same files under sanitizers.
"""

from __future__ import annotations

import sys

import pytest

from rushlight import process
from rushlight.program import read_program
from support.hostile_programs import FOLDER, PROGRAMS
from support.rewriting import contents

RUN = """
import sys
import rushlight
from rushlight.errors import RushlightError
for prepare in (True, False):
    try:
        rushlight.load(sys.argv[1], threads=1, prepare=prepare).forward()
        print("ran")
    except Exception as error:
        print(type(error).__name__, error)
"""
REFUSED = {
    "pivots_under_the_result": "_linalg_solve_ex.result: pivots: expected memory",
    "pivots_under_the_solution": "linalg_lu_solve.out: pivots: expected memory that the call does not write",
    "pivots_of_blocks_under_the_solution": "linalg_ldl_solve.out: pivots: expected memory",
    "pivots_under_unpacked_factors": "lu_unpack.out: LU_pivots: expected memory",
    "pivots_for_no_matrix": "lu_unpack.out: LU_pivots: expected as many as matrices",
    "linear_of_another_rank": "linear.out: ",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_hostile_programs_end_in_a_result_or_an_error(name: str) -> None:
    path = FOLDER / f"{name}.pte"
    result = process.run([sys.executable, "-c", RUN, path], timeout=60)
    assert result.returncode == 0, result.stderr[-2000:]
    lines = [line for line in result.stdout.splitlines() if line.startswith(("ran", "InvalidArgument"))]
    assert len(lines) == 2, result.stdout
    if name in REFUSED:
        assert all(REFUSED[name] in line for line in lines), lines
    else:
        assert lines == ["ran", "ran"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_files_are_what_the_script_makes(name: str) -> None:
    stored, made = (FOLDER / f"{name}.pte").read_bytes(), PROGRAMS[name]().written()
    assert contents(read_program(stored)) == contents(read_program(made))

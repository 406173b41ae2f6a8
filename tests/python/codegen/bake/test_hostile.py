# SPDX-License-Identifier: BSD-3-Clause
"""Damaged and strange programs are baked or refused, whatever they hold."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from rushlight.codegen.bake import bake
from rushlight.codegen.table import OperatorTable, load_table
from rushlight.errors import InvalidProgram, RushlightError
from rushlight.program import Method, ProgramParts, Storage, TensorInfo, Value, write_program
from rushlight.program.model import Dynamism, KernelCall, Kind
from rushlight.sources import source_root

INTEROP = Path(__file__).parents[3] / "interop"
MUTANTS = 60

# Lines of generated C++ that hold text of the program: nothing but comments and string literals may.
_QUIET = re.compile(r'//[ -\[\]-~]*$|"([^"\\\n]|\\[0-7]{3})*"')


@pytest.fixture(scope="module")
def operators() -> OperatorTable:
    """kernels/ops.yaml, read once."""
    return load_table(source_root() / "kernels" / "ops.yaml")


def baked_or_refused(data: bytes, folder: Path, table: OperatorTable) -> str | None:
    """The C++, or None; any other error is a test's failure."""
    (folder / "model.pte").write_bytes(data)
    try:
        baked = bake(folder / "model.pte", folder / "baked", name="it", table=table)
    except RushlightError as error:
        assert len(error.message) < 4000
        return None
    return (baked.folder / "it.cpp").read_text()


@pytest.mark.parametrize("name", ["scan", "multi_method", "dynamic_seq", "list_split_cat"])
def test_bytes_that_are_changed_do_no_harm(name: str, operators: OperatorTable, tmp_path: Path) -> None:
    data = (INTEROP / name / "model.pte").read_bytes()
    draw = random.Random(name)
    ends = set()
    for _ in range(MUTANTS):
        mutant = bytearray(data)
        for _ in range(draw.choice([1, 1, 2, 8])):
            mutant[draw.randrange(len(mutant))] = draw.choice(
                [0, 1, 0xFF, 0x22, 0x5C, 0x0A, draw.randrange(256)]
            )
        ends.add(baked_or_refused(bytes(mutant), tmp_path, operators) is None)
    assert ends == {True, False}


def test_text_of_a_program_stays_text(operators: OperatorTable, tmp_path: Path) -> None:
    """A method's name is replaced, byte for byte, by what would end a comment, a string or a line."""
    data = (INTEROP / "multi_method" / "model.pte").read_bytes()
    for hostile in (b'";int x', b"*/int x", b"\\\nint x", b"a\nint x", b"??/\nint", b'\n#if 0"'):
        assert data.count(b"get_name") >= 1 and data.count(b"hello") == 1
        changed = data.replace(b"get_name", hostile.ljust(8, b" "))
        source = baked_or_refused(changed, tmp_path, operators)
        assert source is not None
        code = _QUIET.sub("", "\n".join(line for line in source.splitlines()))
        assert "int x" not in code and "#if 0" not in code and "\\" not in code.replace("\\\n", "")


def test_a_file_cannot_ask_for_more_weights_than_it_has(operators: OperatorTable, tmp_path: Path) -> None:
    with pytest.raises(InvalidProgram):
        bake(tmp_path / _overlapping(tmp_path), tmp_path / "baked", table=operators)


def _overlapping(folder: Path) -> str:
    """A program whose many constants are each nearly all of one piece of data."""

    def constant(size: int) -> Value:
        fields = {"storage": Storage.CONSTANT, "buffer_index": 1}
        return Value(Kind.TENSOR, TensorInfo("uint8", (size,), (0,), Dynamism.STATIC, **fields))

    sizes = range(3000, 4000)
    out = TensorInfo("uint8", (4000,), (0,), Dynamism.STATIC, Storage.PLANNED, memory_id=1)
    values = (*map(constant, sizes), Value(Kind.TENSOR, out))
    calls = tuple(KernelCall(0, (i, len(sizes))) for i in range(len(sizes)))
    method = Method("forward", values, (), (), (calls,), ("aten::relu.out",), (), (0, 4000))
    write_program(ProgramParts((method,), [random.Random(0).randbytes(4000)])).save(folder / "big.pte")
    return "big.pte"

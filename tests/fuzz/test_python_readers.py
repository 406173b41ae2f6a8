# SPDX-License-Identifier: BSD-3-Clause
"""Python readers and the command line with damaged files: they read or refuse them with a rushlight error,
raise no other exception, and never take long."""

from __future__ import annotations

import contextlib
import json
import struct
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rushlight
from rushlight.cli.main import main
from rushlight.errors import InvalidProgram
from rushlight.program import describe, operator_uses, read_program

INTEROP = Path(__file__).parents[1] / "interop"
OFFICIAL = [*INTEROP.glob("*/*.pte"), *INTEROP.glob("of_versions/files/*.pte")]
SMALL = [path for path in sorted(OFFICIAL) if path.stat().st_size < 10_000]
WORDS = [0, 1, 2, 4, 8, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFC, 0xFFFFFFFF]
SECONDS = 5.0
READ_OR_REFUSED = (0, InvalidProgram.exit_code)

settings.register_profile("files", deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A small official program with flipped bits, overwritten words, swapped offsets, or a cut end."""
    data = bytearray(draw(st.sampled_from(SMALL)).read_bytes())
    # Mostly in the structure; constants are only values.
    end = struct.unpack_from("<Q", data, 16)[0] if data[8:12] == b"eh00" else len(data)
    positions = st.integers(0, end // 4 - 1).map(lambda word: 4 * word)
    for _ in range(draw(st.integers(1, 5))):
        at = draw(positions)
        kind = draw(st.sampled_from(["bit", "word", "word", "step", "swap", "swap", "cut"]))
        if kind == "bit":
            data[at + draw(st.integers(0, 3))] ^= 1 << draw(st.integers(0, 7))
        elif kind == "word":
            struct.pack_into("<I", data, at, draw(st.sampled_from(WORDS)))
        elif kind == "step":
            data[at] = (data[at] + draw(st.sampled_from([1, 2, 4, 252, 254, 255]))) & 0xFF
        elif kind == "swap":
            other = draw(positions)
            data[at : at + 4], data[other : other + 4] = data[other : other + 4], data[at : at + 4]
        elif draw(st.integers(0, 9)) == 0:
            return bytes(data[:at])
    return bytes(data)


@settings(settings.get_profile("files"), max_examples=1500)
@given(damaged())
def test_a_damaged_program_is_read_or_refused(data: bytes) -> None:
    start = time.process_time()
    with contextlib.suppress(InvalidProgram):
        program = read_program(data)
        json.dumps(describe(program))
        operator_uses(program)
    assert time.process_time() - start < SECONDS


@settings(settings.get_profile("files"), max_examples=800)
@given(damaged())
def test_what_the_python_reader_takes_the_runtime_takes(data: bytes) -> None:
    with contextlib.suppress(InvalidProgram):
        read_program(data)
        try:
            rushlight.load(data)
        except InvalidProgram as error:
            pytest.fail(f"read in Python, refused by the runtime: {error}")


@settings(settings.get_profile("files"), max_examples=300)
@given(data=damaged(), as_json=st.booleans())
def test_inspecting_a_damaged_program_ends_well(
    data: bytes,
    as_json: bool,
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path_factory.getbasetemp() / "damaged.pte"
    file.write_bytes(data)
    with pytest.raises(SystemExit) as ended:
        main(["inspect", str(file), *(["--json"] if as_json else [])])
    printed = capsys.readouterr()
    code = ended.value.code or 0
    assert code in READ_OR_REFUSED, printed.err
    assert "Traceback" not in printed.err
    if as_json:
        document = json.loads(printed.out)
        assert (document.get("error") == "InvalidProgram") == (code != 0)
    elif code != 0:
        assert printed.err.startswith("error:")

# SPDX-License-Identifier: BSD-3-Clause
"""Executables hold no instructions that a core lacks, and use the instructions that a core is chosen for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from rushlight import targets
from rushlight.run.api import run
from rushlight.run.cases import load_case
from rushlight.targets.bare_metal import BareMetal
from support.boards import need, set_vector_length

pytestmark = pytest.mark.device

DSCNN = Path(__file__).parents[1] / "interop" / "model_dscnn" / "model.pte"
SELFCHECK = Path(__file__).parent / "selfcheck"

Build = Callable[[targets.Target, Path, str], Path]

# ARMv6-M's 32-bit instructions: first and second halfword, each with its mask.
WIDE_ARMV6M = {
    "bl": (0xF800, 0xF000, 0xD000, 0xD000),
    "msr": (0xFFE0, 0xF380, 0xD000, 0x8000),
    "mrs": (0xFFE0, 0xF3E0, 0xD000, 0x8000),
    "dsb, dmb, isb": (0xFFF0, 0xF3B0, 0xD000, 0x8000),
    "udf.w": (0xFFF0, 0xF7F0, 0xF000, 0xA000),
}


def executable_that_ran(name: str, model: Path, folder: Path) -> Path:
    """The runner of a model for a target, after it has returned the case's expected outputs."""
    outcome = run(
        model, load_case(model.with_name("case.json")), target=name, build_folder=folder, timeout=120
    )
    reasons = [call.comparison.reason for call in outcome.calls if call.comparison]
    assert reasons and not any(reasons)
    assert outcome.calls[0].result.instructions > 1_000
    assert outcome.build is not None
    return outcome.build.executable


def thumb_code(path: Path) -> Iterator[tuple[int, bytes]]:
    """Address and bytes of each range of Thumb instructions, between the mapping symbols $t and $d."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        marks = sorted(
            {
                (symbol["st_value"] & ~1, symbol.name[:2])
                for symbol in elf.get_section_by_name(".symtab").iter_symbols()
                if symbol.name[:2] in ("$t", "$d") and symbol["st_shndx"] != "SHN_UNDEF"
            }
        )
        for section in elf.iter_sections():
            if not section["sh_flags"] & 4:  # SHF_EXECINSTR
                continue
            start, end = section["sh_addr"], section["sh_addr"] + section["sh_size"]
            inside = [mark for mark in marks if start <= mark[0] < end]
            for (at, kind), (stop, _) in zip(inside, [*inside[1:], (end, "$d")], strict=True):
                if kind == "$t":
                    yield at, section.data()[at - start : stop - start]


def later_than_armv6m(path: Path) -> Counter[str]:
    """The instructions of an executable that ARMv6-M lacks, by kind; "armv6-m" counts the others."""
    found: Counter[str] = Counter()
    for _, code in thumb_code(path):
        words = [int.from_bytes(code[i : i + 2], "little") for i in range(0, len(code) - 1, 2)]
        left = iter(words)
        for word in left:
            if word >> 11 in (0b11101, 0b11110, 0b11111):
                second = next(left, 0)
                known = any(
                    word & mask == value and second & mask2 == value2
                    for mask, value, mask2, value2 in WIDE_ARMV6M.values()
                )
                found["armv6-m" if known else "32 bits"] += 1
            elif word & 0xF500 == 0xB100:
                found["cbz, cbnz"] += 1
            elif word & 0xFF00 == 0xBF00 and word & 0x000F:
                found["it"] += 1
            else:
                found["armv6-m"] += 1
    return found


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("cortex-m0plus", marks=pytest.mark.cortex_m0plus),
        pytest.param("microbit", marks=pytest.mark.microbit),
    ],
)
def test_an_executable_for_armv6m_has_no_later_instruction(name: str, tmp_path: Path) -> None:
    need(name)
    model = DSCNN if name == "cortex-m0plus" else DSCNN.parents[1] / "softplus" / "model.pte"
    found = later_than_armv6m(executable_that_ran(name, model, tmp_path))
    assert set(found) == {"armv6-m"} and found["armv6-m"] > 10_000


@pytest.mark.cortex_m3
def test_later_instructions_are_found_where_they_are(build: Build) -> None:
    found = later_than_armv6m(build(need("cortex-m3"), SELFCHECK, "selfcheck"))
    assert min(found[kind] for kind in ("32 bits", "cbz, cbnz", "it", "armv6-m")) > 10


def risc_v_code(path: Path) -> Counter[int]:
    """The number of 32-bit instructions in functions, by major opcode (bits 6 to 2)."""
    found: Counter[int] = Counter()
    with path.open("rb") as file:
        elf = ELFFile(file)
        text = elf.get_section_by_name(".text")
        start, data = text["sh_addr"], text.data()
        for symbol in elf.get_section_by_name(".symtab").iter_symbols():
            at = symbol["st_value"] - start
            if symbol["st_info"]["type"] != "STT_FUNC" or not 0 <= at < len(data):
                continue
            end = at + symbol["st_size"]
            while at < end:
                if data[at] & 3 != 3:
                    at += 2
                    continue
                found[data[at] >> 2 & 31] += 1
                at += 4
    return found


ATOMIC = 0b01011
FLOAT = {0b00001, 0b01001, 0b10000, 0b10001, 0b10010, 0b10011, 0b10100}
VECTOR = 0b10101


@pytest.mark.rv32imc
def test_an_executable_for_rv32imc_has_no_atomic_and_no_float_instruction(tmp_path: Path) -> None:
    need("rv32imc")
    found = risc_v_code(executable_that_ran("rv32imc", DSCNN, tmp_path))
    assert found.total() > 2_000
    assert not found.keys() & {ATOMIC, VECTOR, *FLOAT}


@pytest.mark.rv32imafc
def test_atomic_and_float_instructions_are_found_where_they_are(build: Build) -> None:
    found = risc_v_code(build(need("rv32imafc"), SELFCHECK, "selfcheck"))
    assert found[ATOMIC] > 0 and found.keys() & FLOAT


@pytest.fixture(scope="module")
def vector_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build folder of DS-CNN for rv64gcv, built once."""
    need("rv64gcv")
    return tmp_path_factory.mktemp("rv64gcv")


@pytest.mark.rv64gcv
def test_a_core_without_vectors_ends_in_a_fault(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    target = need("rv64gcv")
    checked = build(target, SELFCHECK, "selfcheck")
    without = targets.get("rv64gc").description()  # type: ignore[attr-defined]
    monkeypatch.setattr(BareMetal, "description", lambda _: without)
    result = target.run(checked, ["start"], timeout=60)
    assert result.returncode == 139 and "cause 0x0000000000000002" in result.stdout


@pytest.mark.rv64gcv
@pytest.mark.parametrize("bits", [128, 256, 512])
def test_one_executable_runs_on_vectors_of_every_length(
    bits: int, build: Build, vector_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = need("rv64gcv")
    set_vector_length(bits, monkeypatch)
    assert f"vlen={bits}" in " ".join(target.command(Path("runner")))
    checked = build(target, SELFCHECK, "selfcheck")
    for mode in ("start", "atomic", "monotony"):
        assert target.run(checked, [mode], timeout=60).returncode == 0
    assert risc_v_code(executable_that_ran("rv64gcv", DSCNN, vector_build))[VECTOR] > 100

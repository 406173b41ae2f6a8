# SPDX-License-Identifier: BSD-3-Clause
"""Reads frames and calls from the instructions, for functions without compiler data, such as the C library's.
All decrements of the stack pointer in a function are added up, whichever path executes them."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path

from rushlight import process

_LINE = re.compile(r"^\s*([0-9a-f]+):\s+(\S+)(?:\s+(.*))?$")
_NUMBER = r"(0x[0-9a-f]+|\d+)"  # GNU objdump writes decimal numbers, LLVM's hexadecimal ones
_TARGET = re.compile(r"(?:^|[\s,#])(?:0x)?([0-9a-f]+) <([^>+]*)")


@dataclass
class Code:
    """The code of one function: `frame` in bytes, the addresses outside of it that it calls or jumps to, with
    their names, the number of calls through pointers, and `dynamic` if the stack pointer changes by a
    computed value."""

    frame: int = 0
    calls: dict[int, str] = field(default_factory=dict)
    indirect: int = 0
    dynamic: bool = False


def disassemble(
    elf: Path, objdump: str, machine: str, bits: int, functions: list[tuple[int, int]]
) -> dict[int, Code]:
    """The code of `functions` (address and size, sorted), by address; empty for unknown machines."""
    riscv = _riscv64 if bits == 64 else _riscv32
    read = {"EM_ARM": _arm, "EM_RISCV": riscv, "EM_X86_64": _x86, "EM_AARCH64": _aarch64}.get(machine)
    if read is None or process.find_program(objdump) is None:
        return {}
    command = [objdump, "--disassemble", "--no-show-raw-insn", str(elf)]
    starts = [address for address, _ in functions]
    found = {address: Code(frame=8 if machine == "EM_X86_64" else 0) for address in starts}
    for line in process.run(command, check=True).stdout.splitlines():
        if (instruction := _LINE.match(line)) is None:
            continue
        at = int(instruction[1], 16)
        index = bisect_right(starts, at) - 1
        if index < 0 or at >= starts[index] + functions[index][1]:
            continue
        begin, size = functions[index]
        code = found[begin]
        operands = instruction[3] or ""
        read(code, instruction[2], operands.replace(" ", ""))
        target = _TARGET.search(operands)
        if target and _branches(machine, instruction[2], operands):
            address = int(target[1], 16)
            if not begin <= address < begin + size:
                code.calls[address] = target[2]
    return found


def _branches(machine: str, name: str, operands: str) -> bool:
    if machine == "EM_ARM":
        return (name[0] == "b" and not name.startswith(("bic", "bfi", "bfc", "bkpt"))) or name.startswith(
            "cb"
        )
    if machine == "EM_RISCV":
        return name[0] in "jb"
    if machine == "EM_AARCH64":
        return name.startswith(("b", "cb", "tb")) and not name.startswith(("bic", "bfi", "bfx", "bfm", "brk"))
    return name.startswith(("call", "j"))


def _arm(code: Code, name: str, operands: str) -> None:
    base = name.partition(".")[0]
    if base == "push" or (base == "stmdb" and operands.startswith("sp!")):
        code.frame += 4 * _registers(operands)
    elif base == "vpush" or (base.startswith("vstmdb") and operands.startswith("sp!")):
        code.frame += (8 if "d" in operands.partition("{")[2] else 4) * _registers(operands)
    elif base in ("sub", "subw", "subs") and operands.startswith("sp"):
        amount = re.search(rf"#{_NUMBER}", operands)
        code.frame += int(amount[1], 0) if amount else 0
        code.dynamic = code.dynamic or amount is None
    elif base in ("str", "strd", "vstr") and (moved := re.search(rf"\[sp,#-{_NUMBER}\]!", operands)):
        code.frame += int(moved[1], 0)
    elif (base == "blx" and not _TARGET.search(operands)) or (base == "bx" and operands.strip() != "lr"):
        code.indirect += 1


def _registers(operands: str) -> int:
    count = 0
    for item in operands.partition("{")[2].partition("}")[0].split(","):
        first, _, last = item.strip().partition("-")
        numbers = [re.sub(r"\D", "", word) for word in (first, last)]
        count += int(numbers[1]) - int(numbers[0]) + 1 if last else 1
    return count


def _riscv32(code: Code, name: str, operands: str) -> None:
    _riscv(code, name, operands, 4)


def _riscv64(code: Code, name: str, operands: str) -> None:
    _riscv(code, name, operands, 8)


def _riscv(code: Code, name: str, operands: str, register: int) -> None:
    if saved := re.search(r"<__riscv_save_(\d+)>", operands):
        # libgcc's save routine pushes ra and this number of s0 to s11 for its caller.
        code.frame += -(-(int(saved[1]) + 1) * register // 16) * 16
    if name in ("addi", "add", "addiw", "c.addi16sp") and operands.startswith("sp,"):
        amount = re.match(rf"sp,(?:sp,)?(-?){_NUMBER}$", operands)
        if amount is None:
            code.dynamic = code.dynamic or not operands.startswith("sp,s0")  # s0 restores the frame's start
        elif amount[1]:
            code.frame += int(amount[2], 0)
    elif name == "sub" and operands.startswith("sp,sp"):
        code.dynamic = True
    elif name == "jalr" and not _TARGET.search(operands):
        code.indirect += 1


def _x86(code: Code, name: str, operands: str) -> None:
    if name.startswith("push"):
        code.frame += 8
    elif name.startswith("sub") and operands.endswith(",%rsp"):
        amount = re.match(r"\$0x([0-9a-f]+),", operands)
        code.frame += int(amount[1], 16) if amount else 0
        code.dynamic = code.dynamic or amount is None
    elif name.startswith("call") and operands.startswith("*"):
        code.indirect += 1


def _aarch64(code: Code, name: str, operands: str) -> None:
    if name in ("stp", "str") and (moved := re.search(rf"\[sp,#-{_NUMBER}\]!", operands)):
        code.frame += int(moved[1], 0)
    elif name == "sub" and operands.startswith("sp,sp,"):
        amount = re.search(rf"#{_NUMBER}(,lsl#12)?", operands)
        code.frame += int(amount[1], 0) << (12 if amount[2] else 0) if amount else 0
        code.dynamic = code.dynamic or amount is None
    elif name == "blr":
        code.indirect += 1

# SPDX-License-Identifier: BSD-3-Clause
"""Builds the application for a board and runs it under QEMU. The exit status is 0 if it ends with "done"."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Timer

from rushlight import targets
from rushlight.errors import RushlightError

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from cmake_project import ROOT, build  # noqa: E402

TARGETS = ["cortex-m4", "rv32imac"]
MACHINES = {
    "cortex-m4": ["qemu-system-arm", "-machine", "mps2-an386"],
    "rv32imac": ["qemu-system-riscv32", "-machine", "virt", "-bios", "none"],
}
SERIAL = ["-display", "none", "-monitor", "none", "-serial", "stdio"]
SECONDS = 60


def printed(emulator: Sequence[str], executable: Path) -> list[str]:
    """The lines of the UART up to "done", or all within a minute: a board does not stop by itself."""
    command = [*emulator, *SERIAL, "-kernel", str(executable)]
    lines: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as machine:
        alarm = Timer(SECONDS, machine.kill)
        alarm.start()
        assert machine.stdout is not None
        for line in machine.stdout:
            lines.append(line.rstrip("\n"))
            if lines[-1] == "done":
                break
        alarm.cancel()
        machine.kill()
    return lines


def run(name: str, folder: Path) -> bool:
    """Builds and runs on a board, and returns whether the application came to its end."""
    target = targets.get(name)
    target.check_builds()
    target.check_runs()
    build(HERE, folder, RUSHLIGHT_FOLDER=ROOT, CMAKE_TOOLCHAIN_FILE=ROOT / "toolchains" / f"{name}.cmake")
    lines = printed(MACHINES[name], folder / "digits.elf")
    print("\n".join(lines), flush=True)
    return lines[-1:] == ["done"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", default=TARGETS, metavar="TARGET", help=", ".join(MACHINES))
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "build" / "bare_metal", help="folder")
    options = parser.parse_args()
    if unknown := set(options.targets) - set(MACHINES):
        parser.error(f"target: expected {' or '.join(MACHINES)}, got {', '.join(sorted(unknown))}")
    try:
        ended = [run(name, options.output / name) for name in options.targets]
    except RushlightError as error:
        print(f"error: {error}\n{error.next_step or ''}", file=sys.stderr)
        return error.exit_code
    return 0 if all(ended) else 1


if __name__ == "__main__":
    sys.exit(main())

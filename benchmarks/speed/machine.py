# SPDX-License-Identifier: BSD-3-Clause
"""The machine of the measurements: its name, features, and the measured limits of one core."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rushlight import process
from rushlight.errors import RushlightError

_FEATURES = ("avx2", "fma", "avx512f", "avx512_vnni", "avx512_fp16", "amx_tile", "asimd", "asimdhp", "sve")


def cpus_for(threads: int) -> list[int]:
    """The last ones of the CPUs that this process may use: the first one serves more interrupts."""
    return sorted(os.sched_getaffinity(0))[-threads:]


def cpu() -> dict[str, Any]:
    """Its name, model number and features, as far as the system reports them."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.is_file() else []
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    known = set(facts.get("flags", facts.get("Features", "")).split())
    name = facts.get("model name", platform.processor() or platform.machine())
    number = f"family {facts['cpu family']}, model {facts['model']}" if "cpu family" in facts else ""
    return {"cpu": name, "number": number, "features": [flag for flag in _FEATURES if flag in known]}


def cpu_title(described: dict[str, Any]) -> str:
    """The facts of cpu() in a line."""
    return f"{described['cpu']} ({described['number']}; {' '.join(described['features'])})"


def peak_of_core(folder: Path, cpus: Sequence[int]) -> dict[str, Any]:
    """The results of peak.cpp on the first of `cpus`, or {"missing": reason}."""
    program = folder / "peak"
    source = Path(__file__).with_name("peak.cpp")
    try:
        command = ["g++", "-O2", "-std=c++17", "-ffp-contract=fast", source, "-o", program]
        process.run(command, check=True, timeout=120)
        pinned = ["taskset", "-c", str(cpus[0])] if process.find_program("taskset") else []
        found: dict[str, Any] = json.loads(process.run([*pinned, program], check=True, timeout=120).stdout)
        return found
    except (RushlightError, ValueError) as error:
        return {"missing": str(error)}


def machine(folder: Path, cpus: Sequence[int]) -> dict[str, Any]:
    """The machine's description for the report."""
    return {
        **cpu(),
        "cpus": os.cpu_count(),
        "used": list(cpus),
        "peak": peak_of_core(folder, cpus),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
        "pinned": pinned(),
    }


def pinned() -> str:
    """The instruction set that RUSHLIGHT_CPU allows our kernels; empty for the machine's best."""
    return os.environ.get("RUSHLIGHT_CPU", "")


def fma_peak(described: dict[str, Any]) -> float:
    """Gigaflops of one core, or 0 if they were not measured."""
    return float(max(described["peak"].get("gflops", {}).values(), default=0.0))

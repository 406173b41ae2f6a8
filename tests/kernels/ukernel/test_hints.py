# SPDX-License-Identifier: BSD-3-Clause
"""Microkernels compiled for known calls only: what they were not compiled for is slower, and right."""

from __future__ import annotations

import platform
import re
from pathlib import Path

import pytest

from rushlight import process
from rushlight.process import find_program

CROSS = Path(__file__).parent / "cross"
FAMILIES = "gemm;transpose;depthwise"
HINTS = (
    (
        "gemm:RL_GEMM_SHAPES=1u,12u,64u,125u",
        "transpose:RL_ELEMENT_SIZES=4",
        "depthwise:RL_PLANE_TAPS=9u",
        "depthwise:RL_PIXEL_STRIPS=1u,3u,3u,1u,0u",
    ),
    (
        "gemm:RL_GEMM_SHAPES=0u,3u",
        "transpose:RL_ELEMENT_SIZES=1,16",
        "depthwise:RL_PLANE_TAPS=7u",
        "depthwise:RL_PIXEL_STRIPS=1u,1u,7u,1u,1u,4u,3u,3u,2u,0u",
    ),
)


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="missing: a processor of x86-64")
@pytest.mark.parametrize("variants", ["sse2", "avx2"])
@pytest.mark.parametrize("hints", HINTS, ids=["dscnn", "others"])
def test_the_reference_is_met_beyond_the_hints(hints: tuple[str, ...], variants: str, tmp_path: Path) -> None:
    options = {
        "CMAKE_CXX_COMPILER_LAUNCHER": find_program("ccache") or "",
        "RUSHLIGHT_FAMILIES": FAMILIES,
        "RUSHLIGHT_CPU_VARIANTS": variants,
        "RUSHLIGHT_UKERNEL_HINTS": ";".join(hints),
    }
    given = [f"-D{name}={value}" for name, value in options.items() if value]
    process.run(["cmake", "-S", CROSS, "-B", tmp_path, "-G", "Ninja", *given], check=True, timeout=120)
    process.run(["cmake", "--build", tmp_path, "-j", "2"], check=True, timeout=400)
    if variants == "avx2" and "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("missing: a processor with avx2")
    result = process.run([tmp_path / "ukernel_tests"], timeout=120)
    ran = re.search(r"(\d+) tests ran, 0 expectations failed", result.stdout)
    assert ran and int(ran[1]) >= 10, result.stdout[-2000:]

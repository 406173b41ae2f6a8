# SPDX-License-Identifier: BSD-3-Clause
# Cortex-M7F: DSP instructions, double-precision floating point.
set(CMAKE_SYSTEM_PROCESSOR arm)
set(RUSHLIGHT_TRIPLE thumb-linux-musleabihf)
set(RUSHLIGHT_CPU_FLAGS "-mcpu=cortex_m7+fp_armv8d16")
set(RUSHLIGHT_CODE "armv7e-m hard 32 little")
set(RUSHLIGHT_DEFAULT_BOARD mps2-an500)
include("${CMAKE_CURRENT_LIST_DIR}/zig-bare-metal.cmake")

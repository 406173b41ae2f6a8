# SPDX-License-Identifier: BSD-3-Clause
# Cortex-M33F: DSP instructions, single-precision floating point.
set(CMAKE_SYSTEM_PROCESSOR arm)
set(RUSHLIGHT_TRIPLE thumb-linux-musleabihf)
set(RUSHLIGHT_CPU_FLAGS "-mcpu=cortex_m33+dsp+fp_armv8d16sp")
set(RUSHLIGHT_CODE "armv8-m.main hard 32 little")
set(RUSHLIGHT_DEFAULT_BOARD mps2-an505)
include("${CMAKE_CURRENT_LIST_DIR}/zig-bare-metal.cmake")

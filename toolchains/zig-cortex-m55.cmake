# SPDX-License-Identifier: BSD-3-Clause
# Cortex-M55: MVE on integers and floats, half to double precision.
set(CMAKE_SYSTEM_PROCESSOR arm)
set(RUSHLIGHT_TRIPLE thumb-linux-musleabihf)
set(RUSHLIGHT_CPU_FLAGS "-mcpu=cortex_m55+mve_fp+fp_armv8d16")
set(RUSHLIGHT_CODE "armv8.1-m.main hard 32 little")
set(RUSHLIGHT_DEFAULT_BOARD mps3-an547)
include("${CMAKE_CURRENT_LIST_DIR}/zig-bare-metal.cmake")

# SPDX-License-Identifier: BSD-3-Clause
# Cortex-M0+: ARMv6-M, no floating-point unit, no division.
set(CMAKE_SYSTEM_PROCESSOR arm)
set(RUSHLIGHT_TRIPLE thumb-linux-musleabi)
set(RUSHLIGHT_CPU_FLAGS "-mcpu=cortex_m0plus")
set(RUSHLIGHT_CODE "armv6-m soft 32 little")
set(RUSHLIGHT_DEFAULT_BOARD mps2-an385)
include("${CMAKE_CURRENT_LIST_DIR}/zig-bare-metal.cmake")

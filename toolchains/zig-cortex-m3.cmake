# SPDX-License-Identifier: BSD-3-Clause
# Cortex-M3: no floating-point unit.
set(CMAKE_SYSTEM_PROCESSOR arm)
set(RUSHLIGHT_TRIPLE thumb-linux-musleabi)
set(RUSHLIGHT_CPU_FLAGS "-mcpu=cortex_m3")
set(RUSHLIGHT_CODE "armv7-m soft 32 little")
set(RUSHLIGHT_DEFAULT_BOARD mps2-an385)
include("${CMAKE_CURRENT_LIST_DIR}/zig-bare-metal.cmake")

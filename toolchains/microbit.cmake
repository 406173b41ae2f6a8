# SPDX-License-Identifier: BSD-3-Clause
# Cortex-M0 with 16 kB of memory: ARMv6-M, like cortex-m0plus.
set(RUSHLIGHT_CPU_FLAGS "-mcpu=cortex-m0 -mthumb")
set(RUSHLIGHT_CODE "armv6-m soft 32 little")
set(RUSHLIGHT_DEFAULT_BOARD microbit)
include("${CMAKE_CURRENT_LIST_DIR}/bare-metal-arm.cmake")

# SPDX-License-Identifier: BSD-3-Clause
# Cortex-M0+: ARMv6-M, no floating-point unit, no division, no unaligned access.
set(RUSHLIGHT_CPU_FLAGS "-mcpu=cortex-m0plus -mthumb")
set(RUSHLIGHT_CODE "armv6-m soft 32 little")
set(RUSHLIGHT_DEFAULT_BOARD mps2-an385)
include("${CMAKE_CURRENT_LIST_DIR}/bare-metal-arm.cmake")

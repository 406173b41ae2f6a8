# SPDX-License-Identifier: BSD-3-Clause
# Cortex-M3: no floating-point unit.
set(RUSHLIGHT_CPU_FLAGS "-mcpu=cortex-m3 -mthumb")
set(RUSHLIGHT_CODE "armv7-m soft 32 little")
set(RUSHLIGHT_DEFAULT_BOARD mps2-an385)
include("${CMAKE_CURRENT_LIST_DIR}/bare-metal-arm.cmake")

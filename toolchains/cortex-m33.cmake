# SPDX-License-Identifier: BSD-3-Clause
# Cortex-M33F: DSP instructions, single-precision floating point.
set(RUSHLIGHT_CPU_FLAGS "-mcpu=cortex-m33 -mthumb -mfloat-abi=hard -mfpu=fpv5-sp-d16")
set(RUSHLIGHT_CODE "armv8-m.main hard 32 little")
set(RUSHLIGHT_DEFAULT_BOARD mps2-an505)
include("${CMAKE_CURRENT_LIST_DIR}/bare-metal-arm.cmake")

# SPDX-License-Identifier: BSD-3-Clause
# Cortex-M7F: DSP instructions, double-precision floating point.
set(RUSHLIGHT_CPU_FLAGS "-mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-d16")
set(RUSHLIGHT_CODE "armv7e-m hard 32 little")
set(RUSHLIGHT_DEFAULT_BOARD mps2-an500)
include("${CMAKE_CURRENT_LIST_DIR}/bare-metal-arm.cmake")

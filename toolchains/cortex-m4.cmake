# SPDX-License-Identifier: BSD-3-Clause
# Cortex-M4F: DSP instructions, single-precision floating point.
set(RUSHLIGHT_CPU_FLAGS "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16")
set(RUSHLIGHT_CODE "armv7e-m hard 32 little")
set(RUSHLIGHT_DEFAULT_BOARD mps2-an386)
include("${CMAKE_CURRENT_LIST_DIR}/bare-metal-arm.cmake")

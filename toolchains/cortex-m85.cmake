# SPDX-License-Identifier: BSD-3-Clause
# Cortex-M85: MVE on integers and floats, half to double precision. Build only: QEMU 7.2 has no such core.
set(CMAKE_SYSTEM_PROCESSOR arm)
set(RUSHLIGHT_TRIPLE arm-none-eabi)
set(RUSHLIGHT_CPU_FLAGS "-mcpu=cortex-m85 -mthumb -mfloat-abi=hard")
set(RUSHLIGHT_CODE "armv8.1-m.main hard 32 little")
set(RUSHLIGHT_GCC_FLAGS "-march=armv8.1-m.main+mve.fp+fp.dp -mthumb -mfloat-abi=hard")
set(RUSHLIGHT_DEFAULT_BOARD cortex-m85)
include("${CMAKE_CURRENT_LIST_DIR}/bare-metal-clang.cmake")

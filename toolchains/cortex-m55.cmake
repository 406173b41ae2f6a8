# SPDX-License-Identifier: BSD-3-Clause
# Cortex-M55: MVE on integers and floats, half to double precision.
# gcc 12 makes a conditional conversion between float and double a vcvtne, for which its assembler knows only
# MVE's instruction of that name; without the pass that makes them code grows by 0.7 %.
set(RUSHLIGHT_CPU_FLAGS "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard -fno-if-conversion2")
set(RUSHLIGHT_CODE "armv8.1-m.main hard 32 little")
set(RUSHLIGHT_DEFAULT_BOARD mps3-an547)
include("${CMAKE_CURRENT_LIST_DIR}/bare-metal-arm.cmake")

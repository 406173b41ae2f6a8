# SPDX-License-Identifier: BSD-3-Clause
# Cortex-M55: MVE on integers and floats, half to double precision.
set(RUSHLIGHT_CPU_FLAGS "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard")
set(RUSHLIGHT_DEFAULT_BOARD mps3-an547)
include("${CMAKE_CURRENT_LIST_DIR}/bare-metal-arm.cmake")

# SPDX-License-Identifier: BSD-3-Clause
# Cortex-M: Debian's gcc-arm-none-eabi, libstdc++-arm-none-eabi-dev (headers only) and picolibc-arm-none-eabi.
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_ASM_COMPILER arm-none-eabi-gcc)
include("${CMAKE_CURRENT_LIST_DIR}/bare-metal.cmake")

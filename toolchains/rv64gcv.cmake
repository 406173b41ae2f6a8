# SPDX-License-Identifier: BSD-3-Clause
# 64-bit RISC-V with double-precision floating point and vectors, of whatever length the core has.
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(RUSHLIGHT_TRIPLE riscv64-unknown-elf)
set(RUSHLIGHT_CPU_FLAGS "-march=rv64gcv -mabi=lp64d -mcmodel=medany")
set(RUSHLIGHT_CODE "rv64imafdcv double 64 little")
set(RUSHLIGHT_GCC_FLAGS "-march=rv64gc -mabi=lp64d")
set(RUSHLIGHT_DEFAULT_BOARD virt-rv64gcv)
include("${CMAKE_CURRENT_LIST_DIR}/bare-metal-clang.cmake")

# SPDX-License-Identifier: BSD-3-Clause
# 32-bit RISC-V with single-precision floating point.
set(CMAKE_SYSTEM_PROCESSOR riscv32)
set(RUSHLIGHT_TRIPLE riscv32-linux-musl)
set(RUSHLIGHT_CPU_FLAGS "-mcpu=generic_rv32+m+a+f+c -mcmodel=medium")
set(RUSHLIGHT_CODE "rv32imafc single 32 little")
set(RUSHLIGHT_DEFAULT_BOARD virt-rv32)
include("${CMAKE_CURRENT_LIST_DIR}/zig-bare-metal.cmake")

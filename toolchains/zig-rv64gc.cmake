# SPDX-License-Identifier: BSD-3-Clause
# 64-bit RISC-V with double-precision floating point.
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(RUSHLIGHT_TRIPLE riscv64-linux-musl)
set(RUSHLIGHT_CPU_FLAGS "-mcpu=baseline_rv64 -mcmodel=medium")
set(RUSHLIGHT_CODE "rv64imafdc double 64 little")
set(RUSHLIGHT_DEFAULT_BOARD virt-rv64)
include("${CMAKE_CURRENT_LIST_DIR}/zig-bare-metal.cmake")

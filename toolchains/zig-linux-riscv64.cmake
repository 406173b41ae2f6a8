# SPDX-License-Identifier: BSD-3-Clause
# 64-bit RISC-V, rv64gc.
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(RUSHLIGHT_TRIPLE riscv64-linux-musl)
set(RUSHLIGHT_CODE "rv64imafdc double 64 little")
set(RUSHLIGHT_CPU_FLAGS "-mcpu=baseline_rv64")
set(RUSHLIGHT_EMULATOR qemu-riscv64)
include("${CMAKE_CURRENT_LIST_DIR}/zig-linux.cmake")

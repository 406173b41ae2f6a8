# SPDX-License-Identifier: BSD-3-Clause
# 64-bit RISC-V, rv64gc.
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(RUSHLIGHT_TRIPLE riscv64-linux-gnu)
set(RUSHLIGHT_CODE "rv64imafdc double 64 little")
set(RUSHLIGHT_EMULATOR qemu-riscv64)
include("${CMAKE_CURRENT_LIST_DIR}/linux.cmake")

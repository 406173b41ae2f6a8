# SPDX-License-Identifier: BSD-3-Clause
# 64-bit RISC-V with double-precision floating point.
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(RUSHLIGHT_CPU_FLAGS "-march=rv64gc -mabi=lp64d -mcmodel=medany")
set(RUSHLIGHT_CODE "rv64imafdc double 64 little")
set(RUSHLIGHT_DEFAULT_BOARD virt-rv64)
include("${CMAKE_CURRENT_LIST_DIR}/bare-metal-riscv.cmake")

# SPDX-License-Identifier: BSD-3-Clause
# 32-bit RISC-V without floating point and without atomic instructions: ESP32-C3 and its kin.
set(CMAKE_SYSTEM_PROCESSOR riscv32)
set(RUSHLIGHT_CPU_FLAGS "-march=rv32imc -mabi=ilp32 -mcmodel=medany")
set(RUSHLIGHT_CODE "rv32imc soft 32 little")
set(RUSHLIGHT_DEFAULT_BOARD virt-rv32imc)
include("${CMAKE_CURRENT_LIST_DIR}/bare-metal-riscv.cmake")

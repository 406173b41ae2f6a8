# SPDX-License-Identifier: BSD-3-Clause
# Linux on 64-bit RISC-V with vectors (V 1.0), which gcc 12 does not support: clang with gcc's libraries.
set(RUSHLIGHT_TARGET linux-riscv64)
set(RUSHLIGHT_COMPILER clang)
include("${CMAKE_CURRENT_LIST_DIR}/../../../../toolchains/target.cmake")
set(RUSHLIGHT_CODE "rv64imafdcv double 64 little")
# QEMU 7.2 aborts at a float-to-integer conversion at the start of a page (an assertion in decode_save_opc).
# Alignment keeps each function within one page.
foreach(rushlight_language IN ITEMS C CXX ASM)
    set(CMAKE_${rushlight_language}_FLAGS_INIT "-march=rv64gcv -falign-functions=512")
endforeach()

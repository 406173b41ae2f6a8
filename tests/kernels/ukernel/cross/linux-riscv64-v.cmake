# SPDX-License-Identifier: BSD-3-Clause
# Linux on 64-bit RISC-V with vectors (V 1.0), which gcc 12 does not know: clang-19 with gcc's libraries.
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(RUSHLIGHT_TRIPLE riscv64-linux-gnu)
include("${CMAKE_CURRENT_LIST_DIR}/../../../../toolchains/linux.cmake")
foreach(rushlight_language IN ITEMS C CXX ASM)
    set(CMAKE_${rushlight_language}_COMPILER_TARGET ${RUSHLIGHT_TRIPLE})
    set(CMAKE_${rushlight_language}_FLAGS_INIT -march=rv64gcv)
endforeach()
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_ASM_COMPILER clang-19)

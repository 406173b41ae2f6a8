# SPDX-License-Identifier: BSD-3-Clause
# RISC-V: Debian's gcc-riscv64-unknown-elf and picolibc-riscv64-unknown-elf. Debian has no libstdc++ for
# them; the C++ headers that need no library come from libstdc++-arm-none-eabi-dev.
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_CXX_COMPILER riscv64-unknown-elf-g++)
set(CMAKE_ASM_COMPILER riscv64-unknown-elf-gcc)
include("${CMAKE_CURRENT_LIST_DIR}/bare-metal.cmake")

file(GLOB rushlight_cxx_headers /usr/include/newlib/c++/*)
foreach(rushlight_folder IN LISTS rushlight_cxx_headers)
    # -I, not -isystem: they must come before the C headers that they wrap.
    string(APPEND CMAKE_CXX_FLAGS_INIT " -I${rushlight_folder} -I${rushlight_folder}/arm-none-eabi")
endforeach()

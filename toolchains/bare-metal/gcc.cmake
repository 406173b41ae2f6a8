# SPDX-License-Identifier: BSD-3-Clause
# gcc for bare metal with picolibc: Debian's gcc-arm-none-eabi or gcc-riscv64-unknown-elf.
set(CMAKE_C_COMPILER ${RUSHLIGHT_TRIPLE}-gcc)
set(CMAKE_CXX_COMPILER ${RUSHLIGHT_TRIPLE}-g++)
set(CMAKE_ASM_COMPILER ${RUSHLIGHT_TRIPLE}-gcc)
# -nostartfiles: the board has its own reset code. Log lines contain integers only, so the integer printf
# suffices.
set(RUSHLIGHT_LIBRARY_FLAGS "--specs=picolibc.specs")
set(RUSHLIGHT_LINK_FLAGS "-nostartfiles -DPICOLIBC_INTEGER_PRINTF_SCANF")
include("${CMAKE_CURRENT_LIST_DIR}/board.cmake")

# Debian has no libstdc++ for RISC-V; the header-only parts come from libstdc++-arm-none-eabi-dev.
if(RUSHLIGHT_TRIPLE MATCHES "^riscv")
    file(GLOB rushlight_cxx_headers /usr/include/newlib/c++/*)
    foreach(rushlight_folder IN LISTS rushlight_cxx_headers)
        # -I instead of -isystem: they must precede the C headers that they wrap.
        string(APPEND CMAKE_CXX_FLAGS_INIT " -I${rushlight_folder} -I${rushlight_folder}/arm-none-eabi")
    endforeach()
endif()

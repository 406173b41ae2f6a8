# SPDX-License-Identifier: BSD-3-Clause
# clang for Linux on another machine, with the libraries and the linker of Debian's gcc for it.
include("${CMAKE_CURRENT_LIST_DIR}/gcc.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/../clang/compiler.cmake")
foreach(rushlight_language IN ITEMS C CXX ASM)
    set(CMAKE_${rushlight_language}_FLAGS_INIT "${RUSHLIGHT_CPU_FLAGS}")
endforeach()

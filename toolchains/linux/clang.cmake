# SPDX-License-Identifier: BSD-3-Clause
# clang for cross-compiling to Linux, with the libraries and linker of Debian's gcc for the target.
include("${CMAKE_CURRENT_LIST_DIR}/gcc.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/../clang/compiler.cmake")
foreach(rushlight_language IN ITEMS C CXX ASM)
    set(CMAKE_${rushlight_language}_FLAGS_INIT "${RUSHLIGHT_CPU_FLAGS}")
endforeach()

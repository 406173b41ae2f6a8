# SPDX-License-Identifier: BSD-3-Clause
# zig for Linux with musl: builds static executables that run on any distribution.
include("${CMAKE_CURRENT_LIST_DIR}/system.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/../zig/compiler.cmake")
# -g keeps symbols, for measuring and debugging.
string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " -static -g")
if(
    NOT (CMAKE_HOST_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL CMAKE_SYSTEM_PROCESSOR)
)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${rushlight_emulator})
endif()

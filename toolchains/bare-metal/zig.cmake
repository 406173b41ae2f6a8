# SPDX-License-Identifier: BSD-3-Clause
# Boards by ziglang, which has no C library for them: its headers and sources of musl do, by zig/library.cmake.
# A CPU file sets CMAKE_SYSTEM_PROCESSOR, RUSHLIGHT_TRIPLE, RUSHLIGHT_CPU_FLAGS and RUSHLIGHT_DEFAULT_BOARD,
# then includes this one. The triple is Linux's for the headers' sake; nothing calls a system.
include("${CMAKE_CURRENT_LIST_DIR}/zig.cmake")
# -g: symbols stay, for whoever measures or debugs.
set(RUSHLIGHT_LIBRARY_FLAGS "${RUSHLIGHT_ZIG_FLAGS} -fno-stack-check")
set(RUSHLIGHT_LINK_FLAGS "-nostdlib -nostdlib++ -nostartfiles -static -g -Wl,-e,rushlight_reset")
set(RUSHLIGHT_C_LIBRARY "${CMAKE_CURRENT_LIST_DIR}/zig/library.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/bare-metal.cmake")

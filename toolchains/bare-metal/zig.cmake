# SPDX-License-Identifier: BSD-3-Clause
# zig for bare metal. zig has no C library for it, so zig/library.cmake builds one from its musl sources. The
# triple is Linux's, for the headers only; no system call is made.
include("${CMAKE_CURRENT_LIST_DIR}/../zig/compiler.cmake")
# -g keeps symbols, for measuring and debugging.
set(RUSHLIGHT_LIBRARY_FLAGS "${RUSHLIGHT_ZIG_FLAGS} -fno-stack-check")
set(RUSHLIGHT_LINK_FLAGS "-nostdlib -nostdlib++ -nostartfiles -static -g -Wl,-e,rushlight_reset")
get_filename_component(rushlight_zig_sources "${CMAKE_CURRENT_LIST_DIR}/../zig" ABSOLUTE)
set(RUSHLIGHT_C_LIBRARY "${rushlight_zig_sources}/library.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/board.cmake")

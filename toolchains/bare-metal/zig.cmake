# SPDX-License-Identifier: BSD-3-Clause
# zig for bare metal, for which it has no C library: its headers and sources of musl do, by zig/library.cmake. The
# triple is Linux's for the headers' sake; nothing calls a system.
include("${CMAKE_CURRENT_LIST_DIR}/../zig/compiler.cmake")
# -g: symbols stay, for whoever measures or debugs.
set(RUSHLIGHT_LIBRARY_FLAGS "${RUSHLIGHT_ZIG_FLAGS} -fno-stack-check")
set(RUSHLIGHT_LINK_FLAGS "-nostdlib -nostdlib++ -nostartfiles -static -g -Wl,-e,rushlight_reset")
get_filename_component(rushlight_zig_sources "${CMAKE_CURRENT_LIST_DIR}/../zig" ABSOLUTE)
set(RUSHLIGHT_C_LIBRARY "${rushlight_zig_sources}/library.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/board.cmake")

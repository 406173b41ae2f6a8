# SPDX-License-Identifier: BSD-3-Clause
# 64-bit x86: SSE2, as every such machine has it.
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(RUSHLIGHT_TRIPLE x86_64-linux-musl)
set(RUSHLIGHT_CODE "x86_64 none 64 little")
set(RUSHLIGHT_CPU_FLAGS "-mcpu=baseline")
set(RUSHLIGHT_EMULATOR qemu-x86_64)
include("${CMAKE_CURRENT_LIST_DIR}/zig-linux.cmake")

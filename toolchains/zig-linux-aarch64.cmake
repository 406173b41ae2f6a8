# SPDX-License-Identifier: BSD-3-Clause
# 64-bit Arm: NEON always.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(RUSHLIGHT_TRIPLE aarch64-linux-musl)
set(RUSHLIGHT_CODE "aarch64 none 64 little")
set(RUSHLIGHT_CPU_FLAGS "-mcpu=generic")
set(RUSHLIGHT_EMULATOR qemu-aarch64 -cpu max)
include("${CMAKE_CURRENT_LIST_DIR}/zig-linux.cmake")

# SPDX-License-Identifier: BSD-3-Clause
# 32-bit Arm as Debian's armhf has it: ARMv7-A with vfpv3-d16, without NEON.
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(RUSHLIGHT_TRIPLE arm-linux-musleabihf)
set(RUSHLIGHT_CODE "armv7-a hard 32 little")
set(RUSHLIGHT_CPU_FLAGS "-mcpu=generic+v7a+vfp3d16")
set(RUSHLIGHT_EMULATOR qemu-arm -cpu max)
include("${CMAKE_CURRENT_LIST_DIR}/zig-linux.cmake")

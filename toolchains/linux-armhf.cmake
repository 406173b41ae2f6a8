# SPDX-License-Identifier: BSD-3-Clause
# 32-bit Arm as Debian's armhf has it: ARMv7-A with vfpv3-d16. NEON is not in that baseline, so only files
# that are compiled with -mfpu=neon and called after a check may use it.
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(RUSHLIGHT_TRIPLE arm-linux-gnueabihf)
set(RUSHLIGHT_CODE "armv7-a hard 32 little")
set(RUSHLIGHT_EMULATOR qemu-arm -cpu max)
include("${CMAKE_CURRENT_LIST_DIR}/linux.cmake")

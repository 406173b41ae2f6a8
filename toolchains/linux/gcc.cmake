# SPDX-License-Identifier: BSD-3-Clause
# gcc for cross-compiling to Linux: Debian's cross compilers.
include("${CMAKE_CURRENT_LIST_DIR}/system.cmake")
set(CMAKE_C_COMPILER ${RUSHLIGHT_TRIPLE}-gcc)
set(CMAKE_CXX_COMPILER ${RUSHLIGHT_TRIPLE}-g++)
set(CMAKE_ASM_COMPILER ${RUSHLIGHT_TRIPLE}-gcc)
# The target's dynamic loader and libraries are in this folder.
set(CMAKE_CROSSCOMPILING_EMULATOR ${rushlight_emulator} -L /usr/${RUSHLIGHT_TRIPLE})
set(CMAKE_FIND_ROOT_PATH /usr/${RUSHLIGHT_TRIPLE})

# SPDX-License-Identifier: BSD-3-Clause
# The compiler-independent part of Linux toolchains. Sets rushlight_emulator to the QEMU command of the
# target.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
string(JSON rushlight_count LENGTH "${rushlight_row}" emulator)
math(EXPR rushlight_last "${rushlight_count} - 1")
set(rushlight_emulator "")
foreach(rushlight_index RANGE ${rushlight_last})
    string(JSON rushlight_word GET "${rushlight_row}" emulator ${rushlight_index})
    list(APPEND rushlight_emulator "${rushlight_word}")
endforeach()

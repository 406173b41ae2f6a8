# SPDX-License-Identifier: BSD-3-Clause
# zig for WebAssembly with WASI, executed by wasmtime.
set(CMAKE_SYSTEM_NAME Generic)
include("${CMAKE_CURRENT_LIST_DIR}/../zig/compiler.cmake")
# The stack is below all data, so an overflow traps.
string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " -Wl,--stack,1048576")
set(CMAKE_CROSSCOMPILING_EMULATOR "${RUSHLIGHT_ZIG_PYTHON}" "${CMAKE_CURRENT_LIST_DIR}/run.py")

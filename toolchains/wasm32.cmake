# SPDX-License-Identifier: BSD-3-Clause
# 32-bit WebAssembly with the system interface WASI (preview 1). No SIMD: not every engine has it.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(RUSHLIGHT_TRIPLE wasm32-wasi)
set(RUSHLIGHT_CODE "wasm32 none 32 little")
include("${CMAKE_CURRENT_LIST_DIR}/zig.cmake")
# The stack lies below all data, so that an overflow traps.
string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " -Wl,--stack,1048576")
set(CMAKE_CROSSCOMPILING_EMULATOR "${RUSHLIGHT_ZIG_PYTHON}" "${CMAKE_CURRENT_LIST_DIR}/wasi/run.py")

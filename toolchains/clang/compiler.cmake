# SPDX-License-Identifier: BSD-3-Clause
# clang, by the names in targets.json; the triple selects the target.
string(JSON CMAKE_C_COMPILER GET "${rushlight_table}" clang c)
string(JSON CMAKE_CXX_COMPILER GET "${rushlight_table}" clang cxx)
set(CMAKE_ASM_COMPILER "${CMAKE_C_COMPILER}")
foreach(rushlight_language IN ITEMS C CXX ASM)
    set(CMAKE_${rushlight_language}_COMPILER_TARGET ${RUSHLIGHT_TRIPLE})
endforeach()

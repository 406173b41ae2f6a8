# SPDX-License-Identifier: BSD-3-Clause
# The toolchain file of every target. Reads the target's row of targets.json, whose fields README.md explains,
# and includes the file of its kind and compiler, such as bare-metal/gcc.cmake.
#   cmake -S . -B out --toolchain toolchains/target.cmake -DRUSHLIGHT_TARGET=cortex-m33 [-DRUSHLIGHT_COMPILER=zig]
# A file in this folder that includes it, such as cortex-m33.cmake, selects the target with the file's name.
get_filename_component(rushlight_folder "${CMAKE_PARENT_LIST_FILE}" DIRECTORY)
if(rushlight_folder STREQUAL CMAKE_CURRENT_LIST_DIR)
    get_filename_component(RUSHLIGHT_TARGET "${CMAKE_PARENT_LIST_FILE}" NAME_WLE)
endif()

set(rushlight_file "${CMAKE_CURRENT_LIST_DIR}/targets.json")
file(READ "${rushlight_file}" rushlight_table)
string(JSON rushlight_rows ERROR_VARIABLE rushlight_problem GET "${rushlight_table}" targets)
if(rushlight_problem)
    message(FATAL_ERROR "${rushlight_file}: ${rushlight_problem}")
endif()

string(JSON rushlight_row ERROR_VARIABLE rushlight_problem GET "${rushlight_rows}" "${RUSHLIGHT_TARGET}")
if(rushlight_problem)
    message(FATAL_ERROR "RUSHLIGHT_TARGET: expected a target of ${rushlight_file}, got '${RUSHLIGHT_TARGET}'")
endif()
string(JSON rushlight_compilers GET "${rushlight_row}" compilers)
string(JSON rushlight_last LENGTH "${rushlight_compilers}")
math(EXPR rushlight_last "${rushlight_last} - 1")
set(rushlight_known "")
foreach(rushlight_index RANGE ${rushlight_last})
    string(JSON rushlight_name GET "${rushlight_compilers}" ${rushlight_index} name)
    list(APPEND rushlight_known "${rushlight_name}")
endforeach()
if(NOT RUSHLIGHT_COMPILER)
    list(GET rushlight_known 0 RUSHLIGHT_COMPILER)
endif()
list(FIND rushlight_known "${RUSHLIGHT_COMPILER}" rushlight_index)
if(rushlight_index EQUAL -1)
    string(REPLACE ";" ", " rushlight_known "${rushlight_known}")
    message(
        FATAL_ERROR
        "RUSHLIGHT_COMPILER: expected one of ${rushlight_known} for ${RUSHLIGHT_TARGET}, got '${RUSHLIGHT_COMPILER}'"
    )
endif()
string(JSON rushlight_choice GET "${rushlight_compilers}" ${rushlight_index})

# A build folder is bound to its first compiler, because CMake caches that compiler's properties.
set(rushlight_configured "${RUSHLIGHT_TARGET} by ${RUSHLIGHT_COMPILER}")
if(RUSHLIGHT_CONFIGURED AND NOT RUSHLIGHT_CONFIGURED STREQUAL rushlight_configured)
    message(
        FATAL_ERROR
        "build folder: expected ${rushlight_configured}, got ${RUSHLIGHT_CONFIGURED}; use an empty folder"
    )
endif()
set(RUSHLIGHT_CONFIGURED "${rushlight_configured}" CACHE INTERNAL "Target and compiler of this folder")

# rushlight_field(<variable> <json> <field>): the field's text, or empty.
macro(rushlight_field variable json field)
    string(JSON ${variable} ERROR_VARIABLE rushlight_problem GET "${json}" ${field})
    if(rushlight_problem)
        set(${variable} "")
    endif()
endmacro()
rushlight_field(rushlight_kind "${rushlight_row}" kind)
rushlight_field(CMAKE_SYSTEM_PROCESSOR "${rushlight_row}" processor)
rushlight_field(RUSHLIGHT_CODE "${rushlight_row}" code)
rushlight_field(RUSHLIGHT_DEFAULT_BOARD "${rushlight_row}" board)
rushlight_field(RUSHLIGHT_TRIPLE "${rushlight_choice}" triple)
rushlight_field(RUSHLIGHT_CPU_FLAGS "${rushlight_choice}" flags)
# CMake's compiler checks are projects that read this file too.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES RUSHLIGHT_TARGET RUSHLIGHT_COMPILER)
include("${CMAKE_CURRENT_LIST_DIR}/${rushlight_kind}/${RUSHLIGHT_COMPILER}.cmake")

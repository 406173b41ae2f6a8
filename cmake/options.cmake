# SPDX-License-Identifier: BSD-3-Clause
# Declares the options of options.json, merges their alternative spellings, and derives values from them.
# Options named EXECUTORCH_ have their ExecuTorch meaning, except that selections may be combined: the build
# contains their union.

include("${CMAKE_CURRENT_LIST_DIR}/option_table.cmake")

rushlight_option_table(rushlight_table)
rushlight_last(rushlight_last "${rushlight_table}" options)
foreach(rushlight_index RANGE ${rushlight_last})
    string(JSON rushlight_row GET "${rushlight_table}" options ${rushlight_index})
    rushlight_member(rushlight_condition "${rushlight_row}" when)
    if(NOT rushlight_condition) # conditions refer to variables that are set below
        rushlight_declare_option("${rushlight_row}")
    endif()
endforeach()
rushlight_unite_aliases("${rushlight_table}")

# Toolchain files are read before the options.
if((RUSHLIGHT_TARGET OR RUSHLIGHT_COMPILER) AND NOT RUSHLIGHT_CODE)
    message(
        FATAL_ERROR
        "RUSHLIGHT_TARGET, RUSHLIGHT_COMPILER: expected CMAKE_TOOLCHAIN_FILE=toolchains/target.cmake with them, \
got '${CMAKE_TOOLCHAIN_FILE}'"
    )
endif()

# Classifies embedded files by their identifier, bytes 4 to 8: FT01 is a data file, BP08 a bundled program.
# Read in hexadecimal, because versions of CMake differ in how they terminate a text. A missing file is a
# program that the build creates.
set(RUSHLIGHT_EMBEDDED_MODEL "")
set(RUSHLIGHT_EMBEDDED_DATA "")
set(RUSHLIGHT_EMBEDS_BUNDLE OFF)
rushlight_selection_files("${RUSHLIGHT_EMBED}" rushlight_files)
foreach(rushlight_file IN LISTS rushlight_files)
    set(rushlight_kind "")
    if(EXISTS "${rushlight_file}")
        file(READ "${rushlight_file}" rushlight_kind OFFSET 4 LIMIT 4 HEX)
    endif()
    if(rushlight_kind STREQUAL "46543031")
        list(APPEND RUSHLIGHT_EMBEDDED_DATA "${rushlight_file}")
    elseif(RUSHLIGHT_EMBEDDED_MODEL)
        message(
            FATAL_ERROR
            "RUSHLIGHT_EMBED: expected one program, got ${RUSHLIGHT_EMBEDDED_MODEL} and ${rushlight_file}"
        )
    else()
        set(RUSHLIGHT_EMBEDDED_MODEL "${rushlight_file}")
        if(rushlight_kind STREQUAL "42503038")
            set(RUSHLIGHT_EMBEDS_BUNDLE ON)
        endif()
    endif()
endforeach()

# Detects if a program whose operators are selected was lowered to XNNPACK, by the delegate's name, which
# precedes the program's segments.
set(RUSHLIGHT_SELECTS_XNNPACK OFF)
rushlight_selection_files("${EXECUTORCH_SELECT_OPS_MODEL}" rushlight_files)
foreach(rushlight_file IN LISTS rushlight_files)
    if(EXISTS "${rushlight_file}")
        file(
            STRINGS "${rushlight_file}"
            rushlight_names
            REGEX "^XnnpackBackend$"
            LENGTH_MINIMUM 14
            LIMIT_COUNT 1
            LIMIT_INPUT 67108864
        )
        if(rushlight_names)
            set(RUSHLIGHT_SELECTS_XNNPACK ON)
        endif()
    endif()
endforeach()

# WebAssembly counts as small unless the flags enable SIMD.
set(RUSHLIGHT_SMALL_TARGET OFF)
if(RUSHLIGHT_BOARD OR (CMAKE_SYSTEM_PROCESSOR MATCHES "wasm" AND NOT CMAKE_CXX_FLAGS MATCHES "-msimd128"))
    set(RUSHLIGHT_SMALL_TARGET ON)
endif()

foreach(rushlight_index RANGE ${rushlight_last})
    string(JSON rushlight_row GET "${rushlight_table}" options ${rushlight_index})
    rushlight_member(rushlight_condition "${rushlight_row}" when)
    rushlight_member(rushlight_kind "${rushlight_row}" kind)
    if(rushlight_condition)
        rushlight_declare_option("${rushlight_row}")
    elseif(rushlight_kind STREQUAL "words")
        rushlight_set_words("${rushlight_row}")
    endif()
endforeach()

# PyTorch's kernels are no library of the code generator: the program looks them up.
set(RUSHLIGHT_ATEN_FIRST OFF)
rushlight_names("${RUSHLIGHT_LIBRARY_PRIORITY}" rushlight_priority)
if("aten" IN_LIST rushlight_priority)
    list(POP_FRONT rushlight_priority rushlight_first)
    if(NOT rushlight_first STREQUAL "aten" OR NOT RUSHLIGHT_HAS_ATEN)
        message(
            FATAL_ERROR
            "RUSHLIGHT_LIBRARY_PRIORITY: expected aten as its first name, and RUSHLIGHT_BUILD=aten, got \
'${RUSHLIGHT_LIBRARY_PRIORITY}'"
        )
    endif()
    set(RUSHLIGHT_ATEN_FIRST ON)
    set(RUSHLIGHT_LIBRARY_PRIORITY "${rushlight_priority}")
endif()

# ON instead of a file selects the operators of the build's own kernel libraries.
if(EXECUTORCH_SELECT_OPS_YAML MATCHES "(^|;)(ON|On|on|TRUE|YES|1)(;|$)")
    list(
        REMOVE_ITEM EXECUTORCH_SELECT_OPS_YAML
        ON
        On
        on
        TRUE
        YES
        1
    )
    if(NOT RUSHLIGHT_KERNEL_LIBRARIES)
        message(
            FATAL_ERROR
            "EXECUTORCH_SELECT_OPS_YAML: expected a path, got ON, which selects the operators of \
RUSHLIGHT_KERNEL_LIBRARIES; set these too"
        )
    endif()
    rushlight_library_files(rushlight_files)
    list(APPEND EXECUTORCH_SELECT_OPS_YAML ${rushlight_files})
endif()

if(EXECUTORCH_SELECT_ALL_OPS STREQUAL "")
    set(EXECUTORCH_SELECT_ALL_OPS ON)
    foreach(rushlight_selection IN ITEMS LIST YAML MODEL)
        rushlight_names("${EXECUTORCH_SELECT_OPS_${rushlight_selection}}" rushlight_selected)
        if(rushlight_selected)
            set(EXECUTORCH_SELECT_ALL_OPS OFF)
        endif()
    endforeach()
endif()

# ExecuTorch's logging switch and level, if RUSHLIGHT_LOG_LEVEL is empty.
set(rushlight_log_name "${RUSHLIGHT_LOG_LEVEL}")
if(rushlight_log_name STREQUAL "")
    if(DEFINED EXECUTORCH_ENABLE_LOGGING AND NOT EXECUTORCH_ENABLE_LOGGING)
        set(rushlight_log_name off)
    elseif(DEFINED EXECUTORCH_LOG_LEVEL)
        set(rushlight_log_name "${EXECUTORCH_LOG_LEVEL}")
    elseif(EXECUTORCH_ENABLE_LOGGING)
        set(rushlight_log_name info)
    else()
        set(rushlight_log_name error)
    endif()
endif()
string(TOLOWER "${rushlight_log_name}" rushlight_log_name)
if(rushlight_log_name STREQUAL "fatal") # an abort needs no log line
    set(rushlight_log_name off)
endif()
set(rushlight_log_names debug info error off)
# The value of the compile definition RUSHLIGHT_LOG_LEVEL; see runtime/base/log.h.
list(FIND rushlight_log_names "${rushlight_log_name}" RUSHLIGHT_LOG_LEVEL_NUMBER)
if(RUSHLIGHT_LOG_LEVEL_NUMBER EQUAL -1)
    message(
        FATAL_ERROR
        "RUSHLIGHT_LOG_LEVEL: expected debug, info, error or off, got '${rushlight_log_name}'"
    )
endif()

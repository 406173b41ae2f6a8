# SPDX-License-Identifier: BSD-3-Clause
# Runs compilers through ccache or sccache, as RUSHLIGHT_COMPILER_CACHE selects. A launcher that the caller
# set takes precedence.
if(CMAKE_C_COMPILER_LAUNCHER OR CMAKE_CXX_COMPILER_LAUNCHER)
    return()
endif()
if(RUSHLIGHT_COMPILER_CACHE STREQUAL "auto")
    set(rushlight_caches ccache sccache)
elseif(RUSHLIGHT_COMPILER_CACHE MATCHES "^(ccache|sccache)$")
    set(rushlight_caches "${RUSHLIGHT_COMPILER_CACHE}")
elseif(RUSHLIGHT_COMPILER_CACHE STREQUAL "off")
    set(rushlight_caches "")
else()
    message(
        FATAL_ERROR
        "RUSHLIGHT_COMPILER_CACHE: expected auto, ccache, sccache or off, got '${RUSHLIGHT_COMPILER_CACHE}'"
    )
endif()

# Searched on every configure, because the choice may have changed.
unset(rushlight_cache_program)
if(rushlight_caches)
    find_program(rushlight_cache_program NAMES ${rushlight_caches} NO_CACHE NO_CMAKE_FIND_ROOT_PATH)
endif()
if(rushlight_cache_program)
    # RUSHLIGHT_CACHE_ENVIRONMENT: a command that the toolchain puts before the launcher.
    set(CMAKE_C_COMPILER_LAUNCHER ${RUSHLIGHT_CACHE_ENVIRONMENT} "${rushlight_cache_program}")
    set(CMAKE_CXX_COMPILER_LAUNCHER ${RUSHLIGHT_CACHE_ENVIRONMENT} "${rushlight_cache_program}")
elseif(rushlight_caches AND NOT RUSHLIGHT_COMPILER_CACHE STREQUAL "auto")
    message(FATAL_ERROR "RUSHLIGHT_COMPILER_CACHE: '${RUSHLIGHT_COMPILER_CACHE}' not found on PATH")
else()
    set(rushlight_cache_program "")
endif()
# Read by `rushlight build`.
set(RUSHLIGHT_COMPILER_CACHE_PROGRAM "${rushlight_cache_program}" CACHE INTERNAL "The launcher of compilers")

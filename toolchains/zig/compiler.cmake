# SPDX-License-Identifier: BSD-3-Clause
# zig from the Python package ziglang: compiler, linker, C library and C++ headers, installed without root.
# RUSHLIGHT_TRIPLE is in zig's spelling.
set(RUSHLIGHT_ZIG
    ""
    CACHE FILEPATH
    "The program zig; if empty, that of the Python package ziglang, or the one on PATH"
)
find_program(RUSHLIGHT_ZIG_PYTHON NAMES "${Python_EXECUTABLE}" python3 NO_CMAKE_FIND_ROOT_PATH)
if(NOT RUSHLIGHT_ZIG)
    if(RUSHLIGHT_ZIG_PYTHON)
        execute_process(
            COMMAND
                "${RUSHLIGHT_ZIG_PYTHON}" -c
                "import importlib.util as u; s = u.find_spec('ziglang'); print(s.submodule_search_locations[0] if s else '', end='')"
            OUTPUT_VARIABLE rushlight_zig_package
        )
    endif()
    find_program(rushlight_zig zig PATHS "${rushlight_zig_package}" NO_CACHE NO_DEFAULT_PATH)
    find_program(rushlight_zig zig NO_CACHE NO_CMAKE_FIND_ROOT_PATH)
    if(NOT rushlight_zig)
        message(FATAL_ERROR "no zig: pip install 'rushlight[zig]', or set RUSHLIGHT_ZIG")
    endif()
    set(RUSHLIGHT_ZIG "${rushlight_zig}")
endif()

# CMake expects one program per tool, but zig's tools are subcommands, so each gets a script. The script also
# sets the target: no later flag can select this machine.
set(rushlight_zig_folder "${CMAKE_BINARY_DIR}/zig")
execute_process(
    COMMAND "${RUSHLIGHT_ZIG}" version
    OUTPUT_VARIABLE rushlight_zig_version
    OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY
)
string(REPLACE "'" "'\\''" rushlight_zig_quoted "${RUSHLIGHT_ZIG}")
foreach(rushlight_word IN ITEMS cc c++ ar ranlib)
    set(rushlight_flags "")
    if(rushlight_word MATCHES "^c")
        set(rushlight_flags " -target ${RUSHLIGHT_TRIPLE} ${RUSHLIGHT_CPU_FLAGS}")
    endif()
    set(rushlight_script "${rushlight_zig_folder}/${rushlight_word}")
    file(
        CONFIGURE
        OUTPUT "${rushlight_script}"
        CONTENT
            "#!/bin/sh\n# zig @rushlight_zig_version@\nexec '@rushlight_zig_quoted@' @rushlight_word@@rushlight_flags@ \"$@\"\n"
        @ONLY
    )
    file(CHMOD "${rushlight_script}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endforeach()
set(CMAKE_C_COMPILER "${rushlight_zig_folder}/cc")
set(CMAKE_CXX_COMPILER "${rushlight_zig_folder}/c++")
set(CMAKE_ASM_COMPILER "${rushlight_zig_folder}/cc")
set(CMAKE_AR "${rushlight_zig_folder}/ar" CACHE FILEPATH "Archiver")
set(CMAKE_RANLIB "${rushlight_zig_folder}/ranlib" CACHE FILEPATH "Archive indexer")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES RUSHLIGHT_ZIG)
# Linking would make zig build libraries with other options than those in use. With the compiler's target set,
# CMake does not link even to identify the compiler.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_COMPILER_TARGET ${RUSHLIGHT_TRIPLE})
set(CMAKE_CXX_COMPILER_TARGET ${RUSHLIGHT_TRIPLE})

# The scripts are new in each build folder, so ccache must compare their contents.
set(RUSHLIGHT_CACHE_ENVIRONMENT "${CMAKE_COMMAND}" -E env CCACHE_COMPILERCHECK=content)

# zig's linker writes no map. Undefined behaviour stays undefined; zig would trap on it in debug builds.
set(RUSHLIGHT_LINKER_MAP OFF)
set(RUSHLIGHT_ZIG_FLAGS "-fno-sanitize=undefined -fno-stack-protector")
set(CMAKE_C_FLAGS_INIT "${RUSHLIGHT_ZIG_FLAGS}")
set(CMAKE_CXX_FLAGS_INIT "${RUSHLIGHT_ZIG_FLAGS}")
# Headers suffice; zig would take minutes to build the C++ library.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-nostdlib++")
set(CMAKE_BUILD_TYPE MinSizeRel CACHE STRING "Build type")

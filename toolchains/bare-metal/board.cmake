# SPDX-License-Identifier: BSD-3-Clause
# The compiler-independent part of bare-metal toolchains. A compiler's file sets RUSHLIGHT_LIBRARY_FLAGS,
# RUSHLIGHT_CXX_LIBRARY_FLAGS and RUSHLIGHT_LINK_FLAGS and then includes this one.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(RUSHLIGHT_BOARD
    "${RUSHLIGHT_DEFAULT_BOARD}"
    CACHE STRING
    "Folder of toolchains/boards/, or the path of another folder with a board.json"
)
set(RUSHLIGHT_PLATFORM semihosting CACHE STRING "File of runtime/platform/ to build on")
set(CMAKE_BUILD_TYPE MinSizeRel CACHE STRING "Build type")

set(rushlight_flags "${RUSHLIGHT_CPU_FLAGS} ${RUSHLIGHT_LIBRARY_FLAGS} -ffunction-sections -fdata-sections")
set(CMAKE_C_FLAGS_INIT "${rushlight_flags}")
set(CMAKE_CXX_FLAGS_INIT
    "${rushlight_flags} ${RUSHLIGHT_CXX_LIBRARY_FLAGS} -fno-exceptions -fno-rtti -fno-unwind-tables -fno-asynchronous-unwind-tables -fno-threadsafe-statics"
)
# Without optimization GCC initialises constants by constructors, which do not run here.
set(CMAKE_C_FLAGS_DEBUG_INIT "-Og")
set(CMAKE_CXX_FLAGS_DEBUG_INIT "-Og")
set(CMAKE_ASM_FLAGS_INIT "${RUSHLIGHT_CPU_FLAGS}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "${RUSHLIGHT_LINK_FLAGS} -Wl,--gc-sections -Wl,-z,noexecstack")

# ctest and custom commands run executables in the emulator that the board names.
get_filename_component(rushlight_boards "${CMAKE_CURRENT_LIST_DIR}/../boards" ABSOLUTE)
get_filename_component(RUSHLIGHT_BOARD_FOLDER "${RUSHLIGHT_BOARD}" ABSOLUTE BASE_DIR "${rushlight_boards}")
if(NOT EXISTS "${RUSHLIGHT_BOARD_FOLDER}/board.json")
    message(FATAL_ERROR "RUSHLIGHT_BOARD: no board.json in ${RUSHLIGHT_BOARD_FOLDER}")
endif()
file(READ "${RUSHLIGHT_BOARD_FOLDER}/board.json" rushlight_board)
string(JSON rushlight_count LENGTH "${rushlight_board}" emulator)
if(rushlight_count GREATER 0) # a board without an emulator is for building only
    math(EXPR rushlight_last "${rushlight_count} - 1")
    set(CMAKE_CROSSCOMPILING_EMULATOR sh "${rushlight_boards}/startup/run.sh")
    foreach(rushlight_index RANGE ${rushlight_last})
        string(JSON rushlight_word GET "${rushlight_board}" emulator ${rushlight_index})
        list(APPEND CMAKE_CROSSCOMPILING_EMULATOR "${rushlight_word}")
    endforeach()
    string(JSON rushlight_shift GET "${rushlight_board}" icount_shift)
    list(APPEND CMAKE_CROSSCOMPILING_EMULATOR -icount "shift=${rushlight_shift}" --)
endif()

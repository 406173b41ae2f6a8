# SPDX-License-Identifier: BSD-3-Clause
# Executables for boards: reset code, linker script and memory map. Does nothing for targets with an operating
# system, whose toolchain file sets no RUSHLIGHT_BOARD.

include("${CMAKE_CURRENT_LIST_DIR}/watch.cmake")

# rushlight_add_board(<executable>) links the startup code and linker script of the chosen board.
function(rushlight_add_board executable)
    if(NOT RUSHLIGHT_BOARD)
        return()
    endif()
    if(NOT TARGET rushlight_board)
        rushlight_board_library()
    endif()
    target_link_libraries(${executable} PRIVATE rushlight_board)
    # Linked as C: linking as C++ would add the C++ library, which does not support bare metal.
    set_target_properties(${executable} PROPERTIES LINKER_LANGUAGE C SUFFIX "")
endfunction()

# rushlight_link_program(<executable>) removes unused sections, writes a link map beside it, and applies the
# board.
function(rushlight_link_program executable)
    target_link_options(${executable} PRIVATE -Wl,--gc-sections)
    if(NOT DEFINED RUSHLIGHT_LINKER_MAP OR RUSHLIGHT_LINKER_MAP) # some linkers write none
        target_link_options(${executable} PRIVATE -Xlinker "-Map=$<TARGET_FILE:${executable}>.map")
    endif()
    rushlight_add_board(${executable})
endfunction()

function(rushlight_board_library)
    set(description "${RUSHLIGHT_BOARD_FOLDER}/board.json")
    rushlight_watch("${description}")
    file(READ "${description}" board)
    string(JSON architecture GET "${board}" architecture)
    string(JSON tick_ps GET "${board}" tick_ps)
    string(JSON icount_shift GET "${board}" icount_shift)
    rushlight_guard_bytes("${board}" guard_bytes)
    # Other projects call this function, so their variables do not tell where this tree is.
    get_filename_component(root "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/.." ABSOLUTE)
    set(startup "${root}/toolchains/boards/startup")
    set(script_folder "${CMAKE_CURRENT_BINARY_DIR}/rushlight-board")
    rushlight_memory_script("${board}" "${script_folder}/memory.ld")

    add_library(
        rushlight_board
        OBJECT
        "${startup}/start.cpp"
        "${startup}/memory.cpp"
        "${startup}/${architecture}.cpp"
    )
    # A fault may come from the vector unit, and its handler runs on little stack.
    set(scalar -fno-tree-vectorize -fno-tree-slp-vectorize)
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        list(APPEND scalar -mno-implicit-float)
    endif()
    set_source_files_properties(
        "${startup}/start.cpp"
        "${startup}/${architecture}.cpp"
        PROPERTIES COMPILE_OPTIONS "${scalar}"
    )
    set(loops -fno-builtin) # keeps loops from becoming calls of the functions that they define
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        list(APPEND loops -fno-tree-loop-distribute-patterns)
    endif()
    set_source_files_properties("${startup}/memory.cpp" PROPERTIES COMPILE_OPTIONS "-O2;${loops}")
    target_compile_features(rushlight_board PRIVATE cxx_std_17)
    target_include_directories(rushlight_board PRIVATE "${root}")
    target_compile_definitions(
        rushlight_board
        PRIVATE
            "RUSHLIGHT_TICK_PS=${tick_ps}"
            "RUSHLIGHT_ICOUNT_SHIFT=${icount_shift}"
            "RUSHLIGHT_GUARD_BYTES=${guard_bytes}"
    )
    string(JSON temporary_bytes ERROR_VARIABLE absent GET "${board}" temporary_bytes)
    if(NOT absent)
        target_compile_definitions(
            rushlight_board
            INTERFACE "RUSHLIGHT_RUNNER_TEMPORARY_BYTES=${temporary_bytes}"
        )
    endif()
    if(RUSHLIGHT_C_LIBRARY) # for toolchains without a C library
        include("${RUSHLIGHT_C_LIBRARY}")
        target_link_libraries(rushlight_board INTERFACE rushlight_c_library)
    endif()
    set(script "${startup}/sections.ld")
    if(RUSHLIGHT_COMPILER STREQUAL "zig") # zig passes its linker no folder for included scripts
        rushlight_watch("${script}")
        file(READ "${script}" whole)
        file(READ "${script_folder}/memory.ld" included)
        string(REPLACE "INCLUDE memory.ld" "${included}" whole "${whole}")
        set(script "${script_folder}/sections.ld")
        file(CONFIGURE OUTPUT "${script}" CONTENT "${whole}" @ONLY)
    endif()
    target_link_options(rushlight_board INTERFACE "-L${script_folder}" "-T${script}")
    set_property(
        TARGET rushlight_board
        PROPERTY INTERFACE_LINK_DEPENDS "${script}" "${script_folder}/memory.ld"
    )
endfunction()

# rushlight_guard_bytes(<board> <variable>): size of the guard below the stack, to which the reset code denies
# access.
function(rushlight_guard_bytes board variable)
    string(JSON bytes ERROR_VARIABLE absent GET "${board}" guard_bytes)
    if(absent)
        set(bytes 4096)
    elseif(NOT bytes MATCHES "^(0|4096)$")
        message(FATAL_ERROR "board.json: guard_bytes: expected 0 or 4096, got ${bytes}")
    endif()
    set(${variable} ${bytes} PARENT_SCOPE)
endfunction()

# Writes memory.ld: the memory banks, and their roles as aliases.
function(rushlight_memory_script board file)
    set(banks "")
    string(JSON last LENGTH "${board}" memory)
    math(EXPR last "${last} - 1")
    foreach(index RANGE ${last})
        foreach(field IN ITEMS name address bytes)
            string(JSON ${field} GET "${board}" memory ${index} ${field})
        endforeach()
        string(APPEND banks "  ${name} : ORIGIN = ${address}, LENGTH = ${bytes}\n")
    endforeach()
    set(aliases "")
    foreach(
        role
        IN
        ITEMS vectors flash ram model arena
    )
        string(JSON bank GET "${board}" banks ${role})
        string(TOUPPER "${role}" alias)
        string(APPEND aliases "REGION_ALIAS(\"${alias}\", ${bank})\n")
    endforeach()
    string(JSON stack_bytes GET "${board}" stack_bytes)
    rushlight_guard_bytes("${board}" guard_bytes)
    if(RUSHLIGHT_MEMORY_HEADER)
        rushlight_watch("${RUSHLIGHT_MEMORY_HEADER}")
        file(STRINGS "${RUSHLIGHT_MEMORY_HEADER}" line REGEX " kStack = [1-9]")
        if(line MATCHES " kStack = ([0-9]+)")
            set(stack_bytes "${CMAKE_MATCH_1}")
        endif()
    endif()
    file(
        CONFIGURE
        OUTPUT "${file}"
        CONTENT
            "MEMORY\n{\n@banks@}\n@aliases@rushlight_stack_bytes = @stack_bytes@;\nrushlight_guard_bytes = @guard_bytes@;\n"
        @ONLY
    )
endfunction()

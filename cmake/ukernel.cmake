# SPDX-License-Identifier: BSD-3-Clause
# Compiles microkernels as kernels/ukernel/variants.yaml says: each family for the target as it is (the variant
# "native"), and on Linux for the rows that are chosen at run time.

include("${CMAKE_CURRENT_LIST_DIR}/probe.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/selection.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/watch.cmake")

# Generates headers, sources and lists from the table, once for each run of cmake; the folder that has them.
function(rushlight_ukernel_folder result)
    set(folder "${CMAKE_BINARY_DIR}/rushlight/ukernel")
    set(${result} "${folder}" PARENT_SCOPE)
    get_property(generated GLOBAL PROPERTY RUSHLIGHT_UKERNELS_GENERATED)
    if(generated)
        return()
    endif()
    rushlight_run_generator(printed -m rushlight.codegen.ukernels "@ROOT@" "${folder}")
    get_filename_component(root "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../kernels/ukernel" ABSOLUTE)
    file(GLOB headers "${root}/*.h")
    rushlight_watch("${root}/variants.yaml" ${headers})
    set_property(GLOBAL PROPERTY RUSHLIGHT_UKERNELS_GENERATED ON)
endfunction()

# What holds for the code that the C++ compiler makes with its flags: rows and instruction sets of the table, and
# wasm and hosted.
function(rushlight_ukernel_features result)
    rushlight_compiler_command(CXX command)
    rushlight_ukernel_folder(folder)
    file(SHA256 "${folder}/questions.cpp" asked)
    string(PREPEND asked "${command}|")
    if(NOT RUSHLIGHT_UKERNEL_ASKED STREQUAL "${asked}")
        execute_process(
            COMMAND ${command} -E "${folder}/questions.cpp"
            OUTPUT_VARIABLE found
            ERROR_VARIABLE problem
            RESULT_VARIABLE failed
        )
        if(failed)
            message(FATAL_ERROR "The compiler cannot be asked what it makes code for:\n${problem}")
        endif()
        string(REGEX MATCHALL "@[a-z0-9_/]+@" found "${found}")
        string(REPLACE "@" "" found "${found}")
        # zig compiles for boards with Linux's headers, and defines __linux__ there.
        if(RUSHLIGHT_BOARD)
            list(REMOVE_ITEM found hosted)
        endif()
        set(RUSHLIGHT_UKERNEL_FOUND "${found}" CACHE INTERNAL "Features of the compiler's code")
        set(RUSHLIGHT_UKERNEL_ASKED "${asked}" CACHE INTERNAL "Was asked")
    endif()
    set(${result} "${RUSHLIGHT_UKERNEL_FOUND}" PARENT_SCOPE)
endfunction()

# Whether functions compute with floats, not the processor.
function(rushlight_floats_in_software result)
    rushlight_ukernel_features(features)
    set(${result} ON PARENT_SCOPE)
    foreach(
        unit
        IN
        ITEMS "arm/fma" "riscv/f" "hosted" "wasm" "x86"
    )
        if("${unit}" IN_LIST features)
            set(${result} OFF PARENT_SCOPE)
        endif()
    endforeach()
endfunction()

# rushlight_add_ukernels(<target> <family>...) has the target compile the families, and says to it whether there
# are variants to choose from at run time. Flags are properties of the sources, in the caller's folder.
function(rushlight_add_ukernels target)
    get_filename_component(root "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../kernels/ukernel" ABSOLUTE)
    rushlight_ukernel_folder(folder)
    rushlight_ukernel_features(features)
    include("${folder}/ukernels.cmake")
    rushlight_ukernel_rows("${features}" native chosen)
    # A square root is one instruction; both sides of a choice may be computed, though one may be infinite.
    set(speed -ffp-contract=fast -fno-math-errno -fno-trapping-math)
    # Not to find faults: with sanitizers -O3 takes the compiler minutes.
    if("hosted" IN_LIST features AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
        list(APPEND speed -O3)
    endif()
    set(sources "")
    if(chosen AND ARGN)
        list(APPEND sources "${root}/detect.cpp")
    endif()
    foreach(family IN LISTS ARGN)
        set(source "${root}/generic/${family}.cpp")
        set(flags ${speed})
        foreach(row IN LISTS native)
            if("${family}" IN_LIST "RUSHLIGHT_UKERNEL_FAMILIES_${row}")
                list(APPEND flags ${RUSHLIGHT_UKERNEL_OPTIONS_${row}})
            endif()
        endforeach()
        foreach(row IN LISTS native)
            if(EXISTS "${RUSHLIGHT_UKERNEL_CODE_${row}_${family}}")
                set(source "${RUSHLIGHT_UKERNEL_CODE_${row}_${family}}")
                break()
            endif()
        endforeach()
        list(APPEND sources "${source}")
        set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS "${flags}")
        foreach(row IN LISTS chosen)
            if("${family}" IN_LIST "RUSHLIGHT_UKERNEL_FAMILIES_${row}")
                set(source "${RUSHLIGHT_UKERNEL_SOURCE_${row}_${family}}")
                list(APPEND sources "${source}")
                get_filename_component(name "${row}" NAME)
                set(flags ${speed} ${RUSHLIGHT_UKERNEL_FLAGS_${row}} ${RUSHLIGHT_UKERNEL_OPTIONS_${row}})
                list(APPEND flags "-DRL_UKERNEL_VARIANT=${name}")
                set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS "${flags}")
            endif()
        endforeach()
    endforeach()
    target_sources(${target} PRIVATE ${sources})
    target_include_directories(${target} PRIVATE "${folder}")
    if(chosen)
        target_compile_definitions(${target} PRIVATE RUSHLIGHT_UKERNEL_VARIANTS=1)
    endif()
    # The code around the loops is optimized for speed too, where flash is plentiful.
    if("hosted" IN_LIST features)
        set_source_files_properties(${RUSHLIGHT_BACK_KERNEL_SOURCES} PROPERTIES COMPILE_OPTIONS -O2)
    endif()
endfunction()

# rushlight_ukernel_rows(<features> <native> <chosen>): the rows of the table that native code is made for, and
# those to compile besides, in order. Needs the generated lists.
function(rushlight_ukernel_rows features native chosen)
    set(holding ${RUSHLIGHT_UKERNEL_ROWS})
    set(besides "")
    foreach(row IN LISTS RUSHLIGHT_UKERNEL_ROWS)
        if(NOT "${row}" IN_LIST features)
            list(REMOVE_ITEM holding "${row}")
        endif()
    endforeach()
    foreach(isa IN LISTS RUSHLIGHT_UKERNEL_ISAS)
        set(rows ${RUSHLIGHT_UKERNEL_OF_${isa}})
        list(APPEND rows ${holding})
        list(LENGTH rows count)
        list(REMOVE_DUPLICATES rows)
        list(LENGTH rows different)
        # The flags ask for one of them anyway: that is then the one variant there is.
        # Sanitizers take a compiler minutes for each variant. The tests of the families run all of them, between
        # pages that nobody may touch.
        if(
            "hosted" IN_LIST features
            AND "${isa}" IN_LIST features
            AND count EQUAL different
            AND NOT RUSHLIGHT_HAS_FUZZERS
        )
            set(besides ${RUSHLIGHT_UKERNEL_OF_${isa}})
        endif()
    endforeach()
    set(${native} "${holding}" PARENT_SCOPE)
    set(${chosen} "${besides}" PARENT_SCOPE)
endfunction()

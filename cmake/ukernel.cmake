# SPDX-License-Identifier: BSD-3-Clause
# Compiles microkernels according to kernels/ukernel/variants.yaml: each family for the target's own flags
# (the variant "native") and, on hosts, for the rows that are selected at run time.

include("${CMAKE_CURRENT_LIST_DIR}/probe.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/selection.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/watch.cmake")

# Generates headers, sources and lists from the table, once per run of cmake, and returns their folder.
function(rushlight_ukernel_folder result)
    set(folder "${CMAKE_BINARY_DIR}/rushlight/ukernel")
    set(${result} "${folder}" PARENT_SCOPE)
    get_property(generated GLOBAL PROPERTY RUSHLIGHT_UKERNELS_GENERATED)
    if(generated)
        return()
    endif()
    rushlight_names("${RUSHLIGHT_CPU_VARIANTS}" asked)
    rushlight_run_generator(
        printed
        -m
        rushlight.codegen.ukernels
        "@ROOT@"
        "${folder}"
        ${asked}
    )
    get_filename_component(root "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../kernels/ukernel" ABSOLUTE)
    file(GLOB headers "${root}/*.h")
    rushlight_watch("${root}/variants.yaml" ${headers})
    set_property(GLOBAL PROPERTY RUSHLIGHT_UKERNELS_GENERATED ON)
endfunction()

# Features of the code that the C++ compiler generates with its flags: rows and instruction sets of the table,
# and "wasm" and "hosted".
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
            message(FATAL_ERROR "The compiler could not preprocess the feature test:\n${problem}")
        endif()
        string(REGEX MATCHALL "@[a-z0-9_/]+@" found "${found}")
        string(REPLACE "@" "" found "${found}")
        # zig compiles for boards with Linux's headers, and defines __linux__ there.
        if(RUSHLIGHT_BOARD)
            list(REMOVE_ITEM found hosted)
        endif()
        set(RUSHLIGHT_UKERNEL_FOUND "${found}" CACHE INTERNAL "Features of the compiler's code")
        set(RUSHLIGHT_UKERNEL_ASKED "${asked}" CACHE INTERNAL "Probed command")
    endif()
    set(${result} "${RUSHLIGHT_UKERNEL_FOUND}" PARENT_SCOPE)
endfunction()

# Returns ON if floating-point arithmetic is done by library functions.
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

# rushlight_add_ukernels(<target> <family>...) compiles the families into the target and defines a macro if
# variants are selected at run time. Flags are source properties, so they apply in the caller's folder.
function(rushlight_add_ukernels target)
    get_filename_component(root "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../kernels/ukernel" ABSOLUTE)
    rushlight_ukernel_folder(folder)
    rushlight_ukernel_features(features)
    include("${folder}/ukernels.cmake")
    rushlight_ukernel_rows("${features}" native chosen baseline)
    # Lets a square root compile to one instruction, and lets both branches of a selection be computed even if
    # one overflows.
    set(speed -ffp-contract=fast -fno-math-errno -fno-trapping-math)
    # Not for builds with sanitizers, where -O3 takes minutes.
    if("hosted" IN_LIST features AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
        list(APPEND speed -O3)
        # GCC would copy loops for strides of 1, the K loops of all tiles among them: 85 kB of a module for x86-64.
        if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
            list(APPEND speed -fno-version-loops-for-strides)
        endif()
    endif()
    set(sources "")
    if(chosen AND ARGN)
        list(APPEND sources "${root}/detect.cpp")
    endif()
    foreach(family IN LISTS ARGN)
        set(source "${root}/generic/${family}.cpp")
        set(base ${speed})
        foreach(hint IN LISTS RUSHLIGHT_UKERNEL_HINTS)
            if("${hint}" MATCHES "^${family}:(.*)$")
                list(APPEND base "-D${CMAKE_MATCH_1}")
            endif()
        endforeach()
        set(flags ${base})
        # The best row of the baseline for which the family may be compiled.
        foreach(row IN LISTS baseline)
            if("${family}" IN_LIST "RUSHLIGHT_UKERNEL_FAMILIES_${row}")
                list(APPEND flags ${RUSHLIGHT_UKERNEL_FLAGS_${row}})
                break()
            endif()
        endforeach()
        foreach(row IN LISTS native)
            # Rows that are only native have no list of families: their options apply to all.
            if(
                NOT RUSHLIGHT_UKERNEL_FAMILIES_${row}
                OR "${family}" IN_LIST "RUSHLIGHT_UKERNEL_FAMILIES_${row}"
            )
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
        # Empty for processors without a row, such as plain wasm.
        list(SUBLIST native 0 1 best_native)
        foreach(row IN LISTS chosen)
            if(
                "${best_native}" IN_LIST RUSHLIGHT_UKERNEL_SPARE
                AND "${family}" IN_LIST "RUSHLIGHT_UKERNEL_FAMILIES_${row}"
            )
                list(APPEND flags -Os)
                break()
            endif()
        endforeach()
        set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS "${flags}")
        foreach(row IN LISTS chosen)
            if("${family}" IN_LIST "RUSHLIGHT_UKERNEL_FAMILIES_${row}")
                set(source "${RUSHLIGHT_UKERNEL_SOURCE_${row}_${family}}")
                list(APPEND sources "${source}")
                get_filename_component(name "${row}" NAME)
                set(flags ${base} ${RUSHLIGHT_UKERNEL_FLAGS_${row}} ${RUSHLIGHT_UKERNEL_OPTIONS_${row}})
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
    if(baseline)
        target_compile_definitions(${target} PRIVATE RUSHLIGHT_UKERNEL_BASELINE=1)
    endif()
    # If code size does not matter, code around the loops is optimized for speed as well.
    if("hosted" IN_LIST features)
        set_source_files_properties(${RUSHLIGHT_BACK_KERNEL_SOURCES} PROPERTIES COMPILE_OPTIONS -O2)
    endif()
endfunction()

# rushlight_ukernel_rows(<features> <native> <chosen> <baseline>): the rows that apply to native code, those to
# compile in addition, in order, and those compiled in place of native code (RUSHLIGHT_CPU_VARIANTS). Needs the
# generated lists.
function(rushlight_ukernel_rows features native chosen baseline)
    set(holding ${RUSHLIGHT_UKERNEL_ROWS})
    set(besides "")
    set(instead "")
    set(known "native")
    foreach(row IN LISTS RUSHLIGHT_UKERNEL_ROWS)
        if(NOT "${row}" IN_LIST features)
            list(REMOVE_ITEM holding "${row}")
        endif()
    endforeach()
    foreach(isa IN LISTS RUSHLIGHT_UKERNEL_ISAS)
        set(rows ${RUSHLIGHT_UKERNEL_DETECTED_${isa}})
        list(APPEND rows ${holding})
        list(LENGTH rows count)
        list(REMOVE_DUPLICATES rows)
        list(LENGTH rows different)
        # If the flags already enable one of the rows, it is the only variant.
        if("hosted" IN_LIST features AND "${isa}" IN_LIST features AND count EQUAL different)
            set(known ${RUSHLIGHT_UKERNEL_NAMES_${isa}})
            set(instead ${RUSHLIGHT_UKERNEL_BASELINE_${isa}})
            # Builds with sanitizers skip variants, each of which takes the compiler minutes; the families'
            # tests cover them with guard pages.
            if(NOT RUSHLIGHT_HAS_FUZZERS)
                set(besides ${RUSHLIGHT_UKERNEL_OF_${isa}})
            endif()
        endif()
    endforeach()
    rushlight_names("${RUSHLIGHT_CPU_VARIANTS}" asked)
    foreach(name IN LISTS asked)
        if(NOT name IN_LIST known)
            string(REPLACE ";" ", " known "${known}")
            message(
                FATAL_ERROR
                "RUSHLIGHT_CPU_VARIANTS: expected names of ${known} for this target and these compiler flags, got \
'${name}'"
            )
        endif()
    endforeach()
    list(PREPEND holding ${instead})
    list(REMOVE_DUPLICATES holding)
    set(${native} "${holding}" PARENT_SCOPE)
    set(${chosen} "${besides}" PARENT_SCOPE)
    set(${baseline} "${instead}" PARENT_SCOPE)
endfunction()

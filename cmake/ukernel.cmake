# SPDX-License-Identifier: BSD-3-Clause
# Which sources microkernels are compiled from, by the names of files in kernels/ukernel:
#   generic/<family>.cpp            for the target as it is: the variant "native"
#   <isa>/<family>-<feature>.cpp    instead of it, where the compiler makes code with that feature: features.txt
#   x86/<family>-avx2.cpp, -avx512.cpp, armv7/<family>-neon.cpp  besides it, on hosts: these choose when they run

include("${CMAKE_CURRENT_LIST_DIR}/probe.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/watch.cmake")

set(RUSHLIGHT_UKERNEL_FLAGS_avx2 -mavx2 -mfma -mf16c)
set(RUSHLIGHT_UKERNEL_FLAGS_avx512
    -mavx512f
    -mavx512bw
    -mavx512dq
    -mavx512vl
    -mfma
    -mf16c
    -mprefer-vector-width=512
)
# GCC leaves floats to the scalar unit, since NEON takes subnormal numbers for zero, unless it is told that this
# is wanted; nothing else of what it then allows is.
set(RUSHLIGHT_UKERNEL_UNSAFE
    -funsafe-math-optimizations
    -fno-associative-math
    -fno-reciprocal-math
    -fsigned-zeros
)
set(RUSHLIGHT_UKERNEL_FLAGS_neon -mfpu=neon-vfpv4 ${RUSHLIGHT_UKERNEL_UNSAFE})

# The names in features.txt that the C++ compiler makes code for with its flags, in order; and x86, armv7, wasm,
# wide (AVX2 at least, or NEON on Armv7) and hosted.
function(rushlight_ukernel_features result)
    rushlight_compiler_command(CXX command)
    set(list "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../kernels/ukernel/features.txt")
    rushlight_watch("${list}")
    file(STRINGS "${list}" rows REGEX "^[a-z]")
    list(
        APPEND rows
        "x86 defined(__x86_64__)"
        "wasm defined(__wasm__)"
        "armv7 defined(__arm__) && __ARM_ARCH >= 7"
        "wide defined(__AVX2__) || (defined(__arm__) && defined(__ARM_NEON))"
        "hosted defined(__linux__)"
    )
    set(text "")
    foreach(row IN LISTS rows)
        string(REGEX MATCH "^([^ ]*) (.*)$" row "${row}")
        string(APPEND text "#if ${CMAKE_MATCH_2}\n@${CMAKE_MATCH_1}@\n#endif\n")
    endforeach()
    string(SHA256 asked "${command}${text}")
    if(NOT RUSHLIGHT_UKERNEL_ASKED STREQUAL "${asked}")
        set(probe "${CMAKE_BINARY_DIR}/CMakeFiles/rushlight-probe/features.cpp")
        file(WRITE "${probe}" "${text}")
        execute_process(
            COMMAND ${command} -E "${probe}"
            OUTPUT_VARIABLE found
            ERROR_VARIABLE problem
            RESULT_VARIABLE failed
        )
        if(failed)
            message(FATAL_ERROR "The compiler cannot be asked what it makes code for:\n${problem}")
        endif()
        string(REGEX MATCHALL "@[a-z0-9/]+@" found "${found}")
        string(REPLACE "@" "" found "${found}")
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

# Features that microkernels are compiled for besides, of which one is chosen at run time. None where the flags
# ask for a machine with wide vectors anyway: that is then the one variant there is.
function(rushlight_ukernel_variants result)
    rushlight_ukernel_features(features)
    set(${result} "" PARENT_SCOPE)
    if(NOT "hosted" IN_LIST features OR "wide" IN_LIST features)
        return()
    endif()
    if("x86" IN_LIST features)
        set(${result} x86/avx2 x86/avx512 PARENT_SCOPE)
    elseif("armv7" IN_LIST features)
        set(${result} armv7/neon PARENT_SCOPE)
    endif()
endfunction()

# rushlight_add_ukernels(<target> <family>...) has the target compile the families, and says to it whether
# there are several variants. Flags are properties of the sources, in the caller's folder.
function(rushlight_add_ukernels target)
    get_filename_component(root "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../kernels/ukernel" ABSOLUTE)
    rushlight_ukernel_features(features)
    rushlight_ukernel_variants(variants)
    foreach(isa IN ITEMS x86 arm)
        string(TOUPPER "${isa}" name)
        set(has 0)
        if(variants MATCHES "^${isa}")
            set(has 1)
        endif()
        target_compile_definitions(${target} PUBLIC "RUSHLIGHT_${name}_VARIANTS=${has}")
    endforeach()
    # A square root is one instruction; both sides of a choice may be computed, though one may be infinite.
    set(speed -ffp-contract=fast -fno-math-errno -fno-trapping-math)
    if("hosted" IN_LIST features)
        list(APPEND speed -O3)
    endif()
    set(sources "")
    if(variants AND ARGN)
        list(GET variants 0 first)
        get_filename_component(isa "${first}" DIRECTORY)
        list(APPEND sources "${root}/${isa}/variants.cpp")
    endif()
    foreach(family IN LISTS ARGN)
        rushlight_native_ukernel("${root}" "${family}" "${features}" native)
        list(APPEND sources ${native})
        set(flags ${speed})
        if("armv7" IN_LIST features AND "wide" IN_LIST features AND EXISTS "${root}/armv7/${family}-neon.cpp")
            list(APPEND flags ${RUSHLIGHT_UKERNEL_UNSAFE})
        endif()
        set_source_files_properties(${native} PROPERTIES COMPILE_OPTIONS "${flags}")
        foreach(variant IN LISTS variants)
            get_filename_component(isa "${variant}" DIRECTORY)
            get_filename_component(feature "${variant}" NAME)
            set(source "${root}/${isa}/${family}-${feature}.cpp")
            if(EXISTS "${source}")
                list(APPEND sources "${source}")
                set(flags ${speed} ${RUSHLIGHT_UKERNEL_FLAGS_${feature}})
                set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS "${flags}")
            endif()
        endforeach()
    endforeach()
    target_sources(${target} PRIVATE ${sources})
    # What is around the loops, too, is to be quick where there is room.
    if("hosted" IN_LIST features)
        set_source_files_properties(${RUSHLIGHT_BACK_KERNEL_SOURCES} PROPERTIES COMPILE_OPTIONS -O2)
    endif()
endfunction()

# The source of a family's native variant; empty for headers that have none.
function(rushlight_native_ukernel root family features result)
    set(${result} "" PARENT_SCOPE)
    foreach(name IN LISTS features)
        string(REPLACE "/" "/${family}-" file "${name}")
        if(name MATCHES "/" AND EXISTS "${root}/${file}.cpp")
            set(${result} "${root}/${file}.cpp" PARENT_SCOPE)
            return()
        endif()
    endforeach()
    if(EXISTS "${root}/generic/${family}.cpp")
        set(${result} "${root}/generic/${family}.cpp" PARENT_SCOPE)
    endif()
endfunction()

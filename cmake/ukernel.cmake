# SPDX-License-Identifier: BSD-3-Clause
# Which sources microkernels are compiled from, by the names of files in kernels/ukernel:
#   generic/<family>.cpp            for the target as it is: the variant "native"
#   <isa>/<family>-<feature>.cpp    instead of it, where the compiler makes code with that feature
#   x86/<family>-avx2.cpp, -avx512.cpp  besides it, on hosts: these choose when they run

include("${CMAKE_CURRENT_LIST_DIR}/probe.cmake")

# What a feature of a file's name asks of the compiler's own definitions, best one first.
set(RUSHLIGHT_UKERNEL_FEATURES
    "riscv/rvv=__riscv_vector"
    "arm/mve=__ARM_FEATURE_MVE"
    "arm64/fp16=__ARM_FEATURE_FP16_VECTOR_ARITHMETIC"
    "arm64/neon=__aarch64__"
    "arm/neon=__ARM_NEON"
    "arm/fma=__ARM_FEATURE_FMA"
    "arm/dsp=__ARM_FEATURE_DSP"
    "riscv/f=__riscv_flen"
    "wasm/simd=__wasm_simd128__"
)
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

# The names of the features, of those above, that the C++ compiler makes code for with its flags.
function(rushlight_ukernel_features result)
    rushlight_compiler_command(CXX command)
    if(NOT RUSHLIGHT_UKERNEL_ASKED STREQUAL "${command}")
        set(probe "${CMAKE_BINARY_DIR}/CMakeFiles/rushlight-probe/empty.cpp")
        file(WRITE "${probe}" "")
        execute_process(
            COMMAND ${command} -dM -E "${probe}"
            OUTPUT_VARIABLE definitions
            ERROR_VARIABLE problem
        )
        set(found "")
        foreach(
            row
            IN
            LISTS RUSHLIGHT_UKERNEL_FEATURES
            ITEMS "x86/any=__x86_64__" "wide=__AVX2__" "hosted=__linux__"
        )
            string(REGEX MATCH "^(.*)=(.*)$" row "${row}")
            set(name "${CMAKE_MATCH_1}")
            if(definitions MATCHES "#define ${CMAKE_MATCH_2}[ \n]")
                list(APPEND found "${name}")
            endif()
        endforeach()
        set(RUSHLIGHT_UKERNEL_FOUND "${found}" CACHE INTERNAL "Features of the compiler's code")
        set(RUSHLIGHT_UKERNEL_ASKED "${command}" CACHE INTERNAL "Was asked")
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
        ITEMS "arm/fma" "riscv/f" "hosted" "wasm/simd" "x86/any"
    )
        if("${unit}" IN_LIST features)
            set(${result} OFF PARENT_SCOPE)
        endif()
    endforeach()
endfunction()

# Whether microkernels are compiled for several machines, of which one is chosen at run time. Not where the
# flags ask for a machine with AVX2 anyway: that is then the one variant there is.
function(rushlight_ukernel_variants result)
    rushlight_ukernel_features(features)
    set(${result} 0 PARENT_SCOPE)
    if("x86/any" IN_LIST features AND "hosted" IN_LIST features AND NOT "wide" IN_LIST features)
        set(${result} 1 PARENT_SCOPE)
    endif()
endfunction()

# rushlight_add_ukernels(<target> <family>...) has the target compile the families, and says to it whether
# there are several variants. Flags are properties of the sources, in the caller's folder.
function(rushlight_add_ukernels target)
    get_filename_component(root "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../kernels/ukernel" ABSOLUTE)
    rushlight_ukernel_features(features)
    rushlight_ukernel_variants(variants)
    target_compile_definitions(${target} PUBLIC "RUSHLIGHT_X86_VARIANTS=${variants}")
    # A square root is one instruction; both sides of a choice may be computed, though one may be infinite.
    set(speed -ffp-contract=fast -fno-math-errno -fno-trapping-math)
    if("hosted" IN_LIST features)
        list(APPEND speed -O3)
    endif()
    set(sources "")
    if(variants AND ARGN)
        list(APPEND sources "${root}/x86/variants.cpp")
    endif()
    foreach(family IN LISTS ARGN)
        rushlight_native_ukernel("${root}" "${family}" "${features}" native)
        list(APPEND sources ${native})
        set_source_files_properties(${native} PROPERTIES COMPILE_OPTIONS "${speed}")
        if(variants)
            foreach(feature IN ITEMS avx2 avx512)
                set(source "${root}/x86/${family}-${feature}.cpp")
                if(EXISTS "${source}")
                    list(APPEND sources "${source}")
                    set(flags ${speed} ${RUSHLIGHT_UKERNEL_FLAGS_${feature}})
                    set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS "${flags}")
                endif()
            endforeach()
        endif()
    endforeach()
    target_sources(${target} PRIVATE ${sources})
    # What is around the loops, too, is to be quick where there is room.
    if("hosted" IN_LIST features)
        set(around ${RUSHLIGHT_KERNEL_SOURCES} ${RUSHLIGHT_SHARED_KERNEL_SOURCES})
        list(FILTER around INCLUDE REGEX "/kernels/optimized/")
        set_source_files_properties(${around} PROPERTIES COMPILE_OPTIONS -O2)
    endif()
endfunction()

# The source of a family's native variant; empty for headers that have none.
function(rushlight_native_ukernel root family features result)
    set(${result} "" PARENT_SCOPE)
    foreach(row IN LISTS RUSHLIGHT_UKERNEL_FEATURES)
        string(REGEX REPLACE "=.*" "" name "${row}")
        string(REGEX MATCH "^(.*)/(.*)$" found "${name}")
        set(source "${root}/${CMAKE_MATCH_1}/${family}-${CMAKE_MATCH_2}.cpp")
        if(name IN_LIST features AND EXISTS "${source}")
            set(${result} "${source}" PARENT_SCOPE)
            return()
        endif()
    endforeach()
    if(EXISTS "${root}/generic/${family}.cpp")
        set(${result} "${root}/generic/${family}.cpp" PARENT_SCOPE)
    endif()
endfunction()

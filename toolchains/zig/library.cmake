# SPDX-License-Identifier: BSD-3-Clause
# rushlight_c_library: the C functions that programs for boards call. Most are musl's mathematics, compiled
# from the ziglang package; functions.zig and print.cpp provide what is missing there or would need a system.
set(rushlight_here "${CMAKE_CURRENT_LIST_DIR}")
get_filename_component(rushlight_zig_package "${RUSHLIGHT_ZIG}" DIRECTORY)
set(rushlight_musl "${rushlight_zig_package}/lib/libc/musl")
file(GLOB rushlight_math "${rushlight_musl}/src/math/*.c")
# Excludes long double, Bessel functions, and functions that functions.zig defines.
list(FILTER rushlight_math EXCLUDE REGEX "/([^/]*l|j[01n]f?|nearbyintf?|__polevll|__invtrigl)\\.c$")
if(NOT rushlight_math)
    message(
        FATAL_ERROR
        "no sources of musl in ${rushlight_musl}: set RUSHLIGHT_ZIG to the program in ziglang's folder"
    )
endif()
# Zig sources: functions.zig, and the compiler's support functions.
separate_arguments(rushlight_cpu UNIX_COMMAND "${RUSHLIGHT_CPU_FLAGS}")
string(REPLACE "linux-musl" "freestanding-" rushlight_freestanding "${RUSHLIGHT_TRIPLE}")
string(REGEX REPLACE "-$" "-none" rushlight_freestanding "${rushlight_freestanding}")
foreach(
    rushlight_source
    IN
    ITEMS "${rushlight_here}/functions.zig" "${rushlight_zig_package}/lib/compiler_rt.zig"
)
    get_filename_component(rushlight_object "${rushlight_source}" NAME_WE)
    set(rushlight_object "${CMAKE_CURRENT_BINARY_DIR}/zig/${rushlight_object}.o")
    add_custom_command(
        OUTPUT "${rushlight_object}"
        COMMAND
            "${RUSHLIGHT_ZIG}" build-obj "${rushlight_source}" -target ${rushlight_freestanding}
            ${rushlight_cpu} -OReleaseSmall -fstrip -fsingle-threaded -ffunction-sections -fdata-sections
            -fno-unwind-tables "-femit-bin=${rushlight_object}"
        DEPENDS "${rushlight_source}"
        VERBATIM
    )
    list(APPEND rushlight_objects "${rushlight_object}")
endforeach()
set_source_files_properties(${rushlight_objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)

add_library(
    rushlight_c_library
    STATIC
    ${rushlight_math}
    "${rushlight_musl}/src/fenv/fenv.c"
    "${rushlight_here}/print.cpp"
    ${rushlight_objects}
)
target_include_directories(
    rushlight_c_library
    PRIVATE
        "${rushlight_musl}/arch/${CMAKE_SYSTEM_PROCESSOR}"
        "${rushlight_musl}/arch/generic"
        "${rushlight_musl}/src/include"
        "${rushlight_musl}/src/internal"
)
target_compile_options(rushlight_c_library PRIVATE "$<$<COMPILE_LANGUAGE:C>:-std=c99;-w>")
target_compile_features(rushlight_c_library PRIVATE cxx_std_17)

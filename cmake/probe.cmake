# SPDX-License-Identifier: BSD-3-Clause
# Checks that the compilers generate code for the target. A row of toolchains/targets.json describes the code
# in `code`, which its toolchain file sets as RUSHLIGHT_CODE: architecture, floating-point ABI ("none" if
# there is only one), bits of a pointer, endianness.
#   set(RUSHLIGHT_CODE "armv7e-m hard 32 little")
# Without it (the host, other toolchain files) the code must only be executable on this machine, unless CMake
# is cross-compiling.

# rushlight_probe(<language>...) stops the configuration if a compiler, with its flags, generates other code.
function(rushlight_probe)
    foreach(language IN LISTS ARGN)
        rushlight_compiler_command(${language} command)
        # Probed once per command line, so configuring again is free.
        if("${RUSHLIGHT_PROBED_${language}}" STREQUAL "${command}|${RUSHLIGHT_CODE}")
            continue()
        endif()
        rushlight_compiled_code(${language} "${command}" code)
        rushlight_expected_code("${code}" expected)
        if(NOT code STREQUAL expected)
            message(
                FATAL_ERROR
                "CMAKE_${language}_COMPILER ${CMAKE_${language}_COMPILER} and its flags make code for \
another machine than the target: expected ${expected}, got ${code}. Choose the compiler with \
CMAKE_TOOLCHAIN_FILE alone, and start with an empty build folder."
            )
        endif()
        message(STATUS "Code of ${language}: ${code}")
        set(RUSHLIGHT_PROBED_${language} "${command}|${RUSHLIGHT_CODE}" CACHE INTERNAL "Probed command")
    endforeach()
endfunction()

# The compiler and all flags that apply to every file of the language.
function(rushlight_compiler_command language variable)
    set(command ${CMAKE_${language}_COMPILER})
    string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
    set(flags "${CMAKE_${language}_COMPILER_ARG1} ${CMAKE_${language}_FLAGS}")
    string(APPEND flags " ${CMAKE_${language}_FLAGS_${build_type}}")
    separate_arguments(flags UNIX_COMMAND "${flags}")
    if(CMAKE_${language}_COMPILER_TARGET)
        list(APPEND command "${CMAKE_${language}_COMPILE_OPTIONS_TARGET}${CMAKE_${language}_COMPILER_TARGET}")
    endif()
    set(${variable} ${command} ${flags} PARENT_SCOPE)
endfunction()

# Compiles an object and reads it: the machine from its header, the code from a string that only the
# compiler's predefined macros determine.
function(rushlight_compiled_code language command variable)
    set(suffix_C c)
    set(suffix_CXX cpp)
    set(folder "${CMAKE_BINARY_DIR}/CMakeFiles/rushlight-probe")
    set(source "${folder}/probe.${suffix_${language}}")
    set(object "${folder}/${language}.o")
    file(REMOVE "${object}")
    file(CONFIGURE OUTPUT "${source}" CONTENT "${RUSHLIGHT_PROBE_SOURCE}" @ONLY)
    execute_process(
        COMMAND ${command} -fno-lto -c "${source}" -o "${object}"
        OUTPUT_VARIABLE output
        ERROR_VARIABLE output
        RESULT_VARIABLE failed
    )
    if(failed)
        string(REPLACE ";" " " command "${command}")
        message(FATAL_ERROR "CMAKE_${language}_COMPILER compiles nothing: ${command}\n${output}")
    endif()
    file(STRINGS "${object}" line REGEX "rushlight code: " LIMIT_COUNT 1)
    string(REGEX MATCH "rushlight code: ([^;]*)\\." line "${line}")
    set(code "${CMAKE_MATCH_1}")
    file(READ "${object}" header LIMIT 20 HEX)
    rushlight_object_machine("${header}" machine)
    # Header and macros must agree; otherwise one of them was tampered with.
    string(REGEX REPLACE "^.* " "" endianness "${code}") # encoded as in an ELF header
    if(NOT code MATCHES "^${machine}" OR NOT header MATCHES "^(7f454c46..${endianness}|0061736d)")
        string(SUBSTRING "${header}" 0 40 header)
        set(code "an object for '${machine}' (${header}) that says '${code}'")
    endif()
    string(REGEX REPLACE " 01$" " little" code "${code}")
    string(REGEX REPLACE " 02$" " big" code "${code}")
    set(${variable} "${code}" PARENT_SCOPE)
endfunction()

# The machine that the first bytes of an object (in hexadecimal) name.
function(rushlight_object_machine header variable)
    set(machine "neither ELF nor WebAssembly")
    if(header MATCHES "^0061736d")
        set(machine wasm)
    elseif(header MATCHES "^7f454c46..(..)........................(..)(..)$")
        set(number "${CMAKE_MATCH_3}${CMAKE_MATCH_2}")
        if(CMAKE_MATCH_1 STREQUAL "02")
            set(number "${CMAKE_MATCH_2}${CMAKE_MATCH_3}")
        endif()
        set(name_0003 i386)
        set(name_0028 arm)
        set(name_003e x86_64)
        set(name_00b7 aarch64)
        set(name_00f3 rv)
        set(machine "machine 0x${number}")
        if(DEFINED name_${number})
            set(machine "${name_${number}}")
        endif()
    endif()
    set(${variable} "${machine}" PARENT_SCOPE)
endfunction()

# The expected code; `code` itself if any is acceptable.
function(rushlight_expected_code code variable)
    set(expected "${code}")
    if(RUSHLIGHT_CODE)
        set(expected "${RUSHLIGHT_CODE}")
    elseif(NOT CMAKE_CROSSCOMPILING AND CMAKE_HOST_SYSTEM_PROCESSOR MATCHES "^(x86_64|aarch64)$")
        set(runs_x86_64 "^(x86_64|i386)")
        set(runs_aarch64 "^(aarch64|arm)")
        if(NOT code MATCHES "${runs_${CMAKE_HOST_SYSTEM_PROCESSOR}}")
            set(expected "code for ${CMAKE_HOST_SYSTEM_PROCESSOR}, as no CMAKE_TOOLCHAIN_FILE is given")
        endif()
    endif()
    set(${variable} "${expected}" PARENT_SCOPE)
endfunction()

# Includes no header, because none may be installed. TEXT() of an undefined macro is its name.
set(RUSHLIGHT_PROBE_SOURCE
    [[
#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)
#if defined(__wasm__)
#define ARCHITECTURE "wasm32"
#elif defined(__aarch64__)
#define ARCHITECTURE "aarch64"
#elif defined(__x86_64__)
#define ARCHITECTURE "x86_64"
#elif defined(__i386__)
#define ARCHITECTURE "i386"
#elif defined(__ARM_ARCH_6M__)
#define ARCHITECTURE "armv6-m"
#elif defined(__ARM_ARCH_7M__)
#define ARCHITECTURE "armv7-m"
#elif defined(__ARM_ARCH_7EM__)
#define ARCHITECTURE "armv7e-m"
#elif defined(__ARM_ARCH_8M_BASE__)
#define ARCHITECTURE "armv8-m.base"
#elif defined(__ARM_ARCH_8_1M_MAIN__) || defined(__ARM_FEATURE_MVE)
#define ARCHITECTURE "armv8.1-m.main"
#elif defined(__ARM_ARCH_8M_MAIN__)
#define ARCHITECTURE "armv8-m.main"
#elif defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'A'
#define ARCHITECTURE "armv" TEXT(__ARM_ARCH) "-a"
#elif defined(__arm__)
#define ARCHITECTURE "armv" TEXT(__ARM_ARCH)
#elif defined(__riscv)
#ifdef __riscv_mul
#define M "m"
#else
#define M ""
#endif
#ifdef __riscv_atomic
#define A "a"
#else
#define A ""
#endif
#if !defined(__riscv_flen)
#define F ""
#elif __riscv_flen == 32
#define F "f"
#else
#define F "fd"
#endif
#ifdef __riscv_compressed
#define C "c"
#else
#define C ""
#endif
#ifdef __riscv_vector
#define V "v"
#else
#define V ""
#endif
#define ARCHITECTURE "rv" TEXT(__riscv_xlen) "i" M A F C V
#else
#define ARCHITECTURE "unknown"
#endif
#if defined(__ARM_PCS_VFP)
#define FLOAT "hard"
#elif defined(__arm__) && defined(__ARM_FP) && !defined(__SOFTFP__)
#define FLOAT "softfp"
#elif defined(__arm__) || defined(__riscv_float_abi_soft)
#define FLOAT "soft"
#elif defined(__riscv_float_abi_single)
#define FLOAT "single"
#elif defined(__riscv_float_abi_double)
#define FLOAT "double"
#else
#define FLOAT "none"
#endif
#if __SIZEOF_POINTER__ == 8
#define BITS "64"
#else
#define BITS "32"
#endif
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define ENDIAN "02"
#else
#define ENDIAN "01"
#endif
#ifdef __cplusplus
extern "C" {
#endif
extern const char rushlight_code[];
const char rushlight_code[] = "rushlight code: " ARCHITECTURE " " FLOAT " " BITS " " ENDIAN ".";
#ifdef __cplusplus
}
#endif
]]
)

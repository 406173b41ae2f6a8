# SPDX-License-Identifier: BSD-3-Clause
# Cores that Debian's gcc 12 does not know: clang-19 and lld-19, with the C library, the C++ headers and
# libgcc that go with gcc. A CPU file sets RUSHLIGHT_TRIPLE, and RUSHLIGHT_GCC_FLAGS to the core that gcc
# does know and whose libraries are called in the same way.
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_ASM_COMPILER clang-19)
foreach(rushlight_language IN ITEMS C CXX ASM)
    set(CMAKE_${rushlight_language}_COMPILER_TARGET ${RUSHLIGHT_TRIPLE})
endforeach()

# What reads executables later on reads this one's words.
find_program(CMAKE_OBJDUMP ${RUSHLIGHT_TRIPLE}-objdump)

separate_arguments(rushlight_gcc_flags UNIX_COMMAND "${RUSHLIGHT_GCC_FLAGS}")
foreach(rushlight_question IN ITEMS multi-directory libgcc-file-name)
    execute_process(
        COMMAND ${RUSHLIGHT_TRIPLE}-gcc ${rushlight_gcc_flags} -print-${rushlight_question}
        OUTPUT_VARIABLE rushlight_${rushlight_question}
        OUTPUT_STRIP_TRAILING_WHITESPACE
        RESULT_VARIABLE rushlight_failed
    )
    if(rushlight_failed)
        message(FATAL_ERROR "${RUSHLIGHT_TRIPLE}-gcc, whose libraries clang-19 is to link: not found")
    endif()
endforeach()
set(rushlight_libc /usr/lib/picolibc/${RUSHLIGHT_TRIPLE})
# -I, not -isystem: the C++ headers must come before the C headers that they wrap.
set(RUSHLIGHT_LIBRARY_FLAGS "-nostdlibinc -ftls-model=local-exec")
set(RUSHLIGHT_CXX_LIBRARY_FLAGS "-nostdinc++")
file(GLOB rushlight_cxx_headers /usr/include/newlib/c++/*)
foreach(rushlight_folder IN LISTS rushlight_cxx_headers)
    string(APPEND RUSHLIGHT_CXX_LIBRARY_FLAGS " -I${rushlight_folder} -I${rushlight_folder}/arm-none-eabi")
endforeach()
string(APPEND RUSHLIGHT_LIBRARY_FLAGS " -isystem ${rushlight_libc}/include")
set(RUSHLIGHT_LINK_FLAGS
    "--ld-path=ld.lld-19 -nostdlib -Wno-unused-command-line-argument -Wl,--defsym=vfprintf=__i_vfprintf -Wl,--defsym=vfscanf=__i_vfscanf"
)
string(APPEND RUSHLIGHT_LINK_FLAGS " -L${rushlight_libc}/lib/${rushlight_multi-directory}")
set(CMAKE_C_STANDARD_LIBRARIES_INIT "-lm -lc ${rushlight_libgcc-file-name} -lc")
include("${CMAKE_CURRENT_LIST_DIR}/bare-metal.cmake")

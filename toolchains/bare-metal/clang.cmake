# SPDX-License-Identifier: BSD-3-Clause
# clang and lld for bare metal, with gcc's C library, C++ headers and libgcc. Needed for cores that Debian's
# gcc 12 does not support; works for others too. `libraries` in the target's row are gcc's flags for a core
# with the same calling convention; the default is the row's flags for gcc.
include("${CMAKE_CURRENT_LIST_DIR}/../clang/compiler.cmake")
string(JSON rushlight_linker GET "${rushlight_table}" clang linker)
rushlight_field(rushlight_gcc_flags "${rushlight_choice}" libraries)
if(NOT rushlight_gcc_flags)
    list(FIND rushlight_known gcc rushlight_index)
    string(JSON rushlight_gcc_flags GET "${rushlight_compilers}" ${rushlight_index} flags)
endif()

# Scripts parse the output of GNU objdump.
find_program(CMAKE_OBJDUMP ${RUSHLIGHT_TRIPLE}-objdump)

separate_arguments(rushlight_gcc_flags UNIX_COMMAND "${rushlight_gcc_flags}")
foreach(rushlight_question IN ITEMS multi-directory libgcc-file-name)
    execute_process(
        COMMAND ${RUSHLIGHT_TRIPLE}-gcc ${rushlight_gcc_flags} -print-${rushlight_question}
        OUTPUT_VARIABLE rushlight_${rushlight_question}
        OUTPUT_STRIP_TRAILING_WHITESPACE
        RESULT_VARIABLE rushlight_failed
    )
    if(rushlight_failed)
        message(FATAL_ERROR "${RUSHLIGHT_TRIPLE}-gcc, whose libraries clang is to link: not found")
    endif()
endforeach()
set(rushlight_libc /usr/lib/picolibc/${RUSHLIGHT_TRIPLE})
# -I instead of -isystem: the C++ headers must precede the C headers that they wrap.
set(RUSHLIGHT_LIBRARY_FLAGS "-nostdlibinc -ftls-model=local-exec")
set(RUSHLIGHT_CXX_LIBRARY_FLAGS "-nostdinc++")
file(GLOB rushlight_cxx_headers /usr/include/newlib/c++/*)
foreach(rushlight_folder IN LISTS rushlight_cxx_headers)
    string(APPEND RUSHLIGHT_CXX_LIBRARY_FLAGS " -I${rushlight_folder} -I${rushlight_folder}/arm-none-eabi")
endforeach()
string(APPEND RUSHLIGHT_LIBRARY_FLAGS " -isystem ${rushlight_libc}/include")
set(RUSHLIGHT_LINK_FLAGS
    "--ld-path=${rushlight_linker} -nostdlib -Wno-unused-command-line-argument -Wl,--defsym=vfprintf=__i_vfprintf -Wl,--defsym=vfscanf=__i_vfscanf"
)
string(APPEND RUSHLIGHT_LINK_FLAGS " -L${rushlight_libc}/lib/${rushlight_multi-directory}")
set(CMAKE_C_STANDARD_LIBRARIES_INIT "-lm -lc ${rushlight_libgcc-file-name} -lc")
include("${CMAKE_CURRENT_LIST_DIR}/board.cmake")

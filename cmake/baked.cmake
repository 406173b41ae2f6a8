# SPDX-License-Identifier: BSD-3-Clause
# Builds baked programs: the C++ that `rushlight bake` writes, with the kernels of this build.

# rushlight_add_baked(<name> <folder>) adds the library <name> of a baked program, and <name>_minimal, an
# executable that executes it once (built on request only). On a board, weights and arenas are placed in the
# banks that its description assigns to them.
function(rushlight_add_baked name folder)
    set(sources "${folder}/${name}.cpp")
    foreach(weights IN ITEMS "${folder}/${name}_weights.S" "${folder}/${name}_weights.cpp")
        if(EXISTS "${weights}")
            list(APPEND sources "${weights}")
        endif()
    endforeach()
    add_library(${name} STATIC ${sources})
    target_include_directories(${name} PUBLIC "${folder}")
    # In the order of a linker that searches each library once.
    target_link_libraries(
        ${name}
        PUBLIC executorch_kernels rushlight_runtime rushlight_platform
        PRIVATE rushlight_flags
    )
    if(EXISTS "${folder}/${name}_weights.S")
        # The assembler searches included files in the compiler's include folders.
        set_source_files_properties(
            "${folder}/${name}_weights.S"
            PROPERTIES INCLUDE_DIRECTORIES "${folder}" OBJECT_DEPENDS "${folder}/${name}_weights.bin"
        )
    endif()
    if(RUSHLIGHT_BOARD)
        string(TOUPPER "${name}" macro)
        target_compile_definitions(
            ${name}
            PRIVATE "RUSHLIGHT_ARENA_SECTION=\".arena\"" "${macro}_WEIGHTS_SECTION=.model"
        )
    endif()
    add_executable(${name}_minimal EXCLUDE_FROM_ALL "${folder}/${name}_example.cpp")
    target_link_libraries(${name}_minimal PRIVATE ${name} rushlight_flags)
    rushlight_link_program(${name}_minimal)
endfunction()

# rushlight_add_baked_runner(<executable> <folder>...) adds the programs of these folders, each of which has
# the name of its program, and an executable that runs them on the calls of a request.
function(rushlight_add_baked_runner executable)
    set(declarations "")
    set(addresses "")
    set(names "")
    foreach(folder IN LISTS ARGN)
        get_filename_component(name "${folder}" NAME)
        rushlight_add_baked(${name} "${folder}")
        list(APPEND names ${name})
        string(APPEND declarations "namespace ${name} { extern const rushlight::baked::Program program; }\n")
        string(APPEND addresses "    &${name}::program,\n")
    endforeach()
    list(LENGTH names count)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${executable}_programs.cpp")
    file(
        CONFIGURE
        OUTPUT "${source}"
        CONTENT
            [[
#include "runtime/baked/method.h"

@declarations@
namespace rushlight {
extern const baked::Program* const baked_programs[];
extern const size_t baked_program_count;
const baked::Program* const baked_programs[] = {
@addresses@};
const size_t baked_program_count = @count@;
}
]]
        @ONLY
    )
    set(root "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/..")
    add_executable(
        ${executable}
        "${source}"
        "${root}/runtime/runner/baked_runner.cpp"
        "${root}/runtime/runner/case_stream.cpp"
        "${root}/runtime/runner/model_files.cpp"
        "${root}/runtime/runner/outcome.cpp"
    )
    target_link_libraries(${executable} PRIVATE ${names} rushlight_data rushlight_platform rushlight_flags)
    rushlight_link_program(${executable})
endfunction()

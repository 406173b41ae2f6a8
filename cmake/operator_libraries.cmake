# SPDX-License-Identifier: BSD-3-Clause
# Libraries of selected operators, through ExecuTorch's functions:
#
#   gen_selected_ops(LIB_NAME lib OPS_SCHEMA_YAML yaml ROOT_OPS "aten::add.out,..." INCLUDE_ALL_OPS ON
#                    OPS_FROM_MODEL model.pte DTYPE_SELECTIVE_BUILD ON)      selects operators: the union
#   generate_bindings_for_kernels(LIB_NAME lib FUNCTIONS_YAML yaml CUSTOM_OPS_YAML yaml)  binds custom kernels
#   gen_operators_lib(LIB_NAME lib KERNEL_LIBS targets DEPS targets)          adds the target `lib`
#   merge_yaml(FUNCTIONS_YAML yaml FALLBACK_YAML yaml OUTPUT_DIR folder)      writes merged.yaml
#
# All keywords accept several values, and empty ones.
#
# An executable that links several such libraries, or one and executorch_kernels, has the operators of all.
# The older forms without LIB_NAME work as well: gen_selected_ops("yaml" "operators" "all" "model" "by
# dtype").

include("${CMAKE_CURRENT_LIST_DIR}/watch.cmake")

include("${CMAKE_CURRENT_LIST_DIR}/ukernel.cmake")

function(gen_selected_ops)
    set(parts
        OPS_SCHEMA_YAML
        ROOT_OPS
        INCLUDE_ALL_OPS
        OPS_FROM_MODEL
        DTYPE_SELECTIVE_BUILD
    )
    set(keywords LIB_NAME ${parts} SELECT_OPS_LIST)
    list(FIND keywords "${ARGV0}" named)
    if(named EQUAL -1)
        set(position 0)
        foreach(part IN LISTS parts)
            set(given_${part} "")
            if(position LESS ARGC)
                set(given_${part} "${ARGV${position}}")
            endif()
            math(EXPR position "${position} + 1")
        endforeach()
    else()
        cmake_parse_arguments(PARSE_ARGV 0 given "" "" "${keywords}")
        list(APPEND given_ROOT_OPS ${given_SELECT_OPS_LIST})
    endif()
    # Further calls for the same library extend its selection.
    foreach(part IN LISTS parts)
        foreach(value IN LISTS given_${part})
            rushlight_says_no("${value}" none)
            if(NOT none)
                set_property(
                    DIRECTORY
                    APPEND
                    PROPERTY "RUSHLIGHT_SELECTED_${given_LIB_NAME}_${part}" "${value}"
                )
            endif()
        endforeach()
    endforeach()
endfunction()

function(generate_bindings_for_kernels)
    cmake_parse_arguments(
        PARSE_ARGV 0
        given
        "ADD_EXCEPTION_BOUNDARY"
        ""
        "LIB_NAME;FUNCTIONS_YAML;CUSTOM_OPS_YAML;DTYPE_SELECTIVE_BUILD"
    )
    foreach(part IN ITEMS FUNCTIONS_YAML CUSTOM_OPS_YAML)
        set_property(DIRECTORY PROPERTY "RUSHLIGHT_BOUND_${given_LIB_NAME}_${part}" "${given_${part}}")
    endforeach()
    # Projects need not compile anything; gen_operators_lib does.
    set(gen_command_sources "" PARENT_SCOPE)
endfunction()

function(gen_operators_lib)
    cmake_parse_arguments(PARSE_ARGV 0 given "" "" "LIB_NAME;DTYPE_SELECTIVE_BUILD;KERNEL_LIBS;DEPS")
    if(NOT given_LIB_NAME)
        set(given_LIB_NAME "${ARGV0}")
    endif()
    set(library "${given_LIB_NAME}")
    set(out "${CMAKE_CURRENT_BINARY_DIR}/${library}")
    rushlight_bound_kernels("${library}" bound)
    rushlight_selected_for("${library}" "${given_DTYPE_SELECTIVE_BUILD}" "${given_DEPS}" selected)
    rushlight_generate("${out}" --name "${library}" ${selected} ${bound})

    string(REPLACE "\\;" ";" own_kernels "${given_KERNEL_LIBS}") # a quoted list is one argument
    # ExecuTorch's names of our kernel libraries: their operators are compiled into the library, as selected.
    list(FILTER own_kernels EXCLUDE REGEX "^(portable|optimized|quantized|optimized_portable)_kernels$")
    list(FILTER own_kernels EXCLUDE REGEX "^((portable|optimized|quantized|prim)_ops|executorch_kernels)")
    if(own_kernels)
        # The libraries contain the bound kernels; compiling them here would define them twice.
        set(RUSHLIGHT_OFFICIAL_KERNEL_SOURCES "")
    endif()
    rushlight_add_kernels(${library} "${out}" NAMESPACE kernels_of_${library})
    target_link_libraries(${library} PUBLIC rushlight::runtime ${own_kernels} PRIVATE ${given_DEPS})
    rushlight_link_operators(${library})
endfunction()

# rushlight_add_kernels(<target> <folder> [NAMESPACE <name>]) adds a static library of the sources that
# rushlight_generate wrote to <folder> and listed for the caller, with the flags of their kinds. Code of the
# same operator depends on the selection, so kernels of additional libraries get their own namespace and share
# no symbol.
function(rushlight_add_kernels target out)
    cmake_parse_arguments(PARSE_ARGV 2 given "" "NAMESPACE" "")
    add_library(
        ${target}
        STATIC
        "${out}/operator_table.cpp"
        ${RUSHLIGHT_KERNEL_SOURCES}
        ${RUSHLIGHT_SHARED_KERNEL_SOURCES}
    )
    if(given_NAMESPACE)
        target_compile_definitions(${target} PRIVATE "kernels=${given_NAMESPACE}")
        set(named_as_written
            "${out}/operator_table.cpp"
            "${out}/official_kernels.cpp"
            ${RUSHLIGHT_OFFICIAL_KERNEL_SOURCES}
        )
        set_property(SOURCE ${named_as_written} APPEND PROPERTY COMPILE_OPTIONS -Ukernels)
        set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
    get_filename_component(root "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/.." ABSOLUTE)
    target_include_directories(${target} BEFORE PRIVATE "${out}" "${root}")
    target_compile_features(${target} PRIVATE cxx_std_17)
    if(TARGET rushlight_flags)
        target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:rushlight_flags>)
    else()
        target_compile_options(
            ${target}
            PRIVATE
                -fvisibility=hidden
                -ffunction-sections
                -fdata-sections
                "$<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions;-fno-rtti;-fno-threadsafe-statics>"
        )
    endif()
    # Loops of portable kernels are vectorized, once: what is left of a loop takes no narrower vectors. Both branches
    # of a selection may be computed, and square roots are instructions. -O3 would also peel, unswitch and copy
    # loops, for twice the code.
    set(options "")
    if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
        target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:-O2>")
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        set(options -ftree-vectorize -fvect-cost-model=dynamic --param=vect-epilogues-nomask=0)
        list(APPEND options -fno-trapping-math -fno-math-errno)
        set(options "$<$<CONFIG:Release>:${options}>")
    endif()
    set_source_files_properties(
        ${RUSHLIGHT_KERNEL_SOURCES}
        ${RUSHLIGHT_SHARED_KERNEL_SOURCES}
        PROPERTIES COMPILE_OPTIONS "${options}"
    )
    # Quantized results are the same on every CPU: no multiply-add is fused where PyTorch rounds twice.
    list(APPEND options -ffp-contract=off)
    set_source_files_properties(${RUSHLIGHT_EXACT_KERNEL_SOURCES} PROPERTIES COMPILE_OPTIONS "${options}")
    rushlight_add_ukernels(${target} ${RUSHLIGHT_UKERNELS})
    if(RUSHLIGHT_OFFICIAL_KERNELS)
        target_sources(${target} PRIVATE "${out}/official_kernels.cpp" ${RUSHLIGHT_OFFICIAL_KERNEL_SOURCES})
        set(api rushlight_kernel_api)
        if(TARGET rushlight::kernel_api)
            set(api rushlight::kernel_api)
        endif()
        target_link_libraries(${target} PRIVATE ${api})
    endif()
endfunction()

# Arguments of the code generator for a library's selection. If DEPS contains `executorch`, prim operators are
# included, as in ExecuTorch.
function(rushlight_selected_for library by_dtype dependencies result)
    set(given "")
    foreach(
        part
        IN
        ITEMS OPS_SCHEMA_YAML ROOT_OPS INCLUDE_ALL_OPS OPS_FROM_MODEL DTYPE_SELECTIVE_BUILD
    )
        get_property(${part} DIRECTORY PROPERTY "RUSHLIGHT_SELECTED_${library}_${part}")
        string(APPEND given "${${part}}")
    endforeach()
    if(given STREQUAL "" AND NOT library STREQUAL "")
        # Falls back to operators selected without a name; if there are none, it is an error.
        rushlight_selected_for("" "${by_dtype}" "${dependencies}" arguments)
        set(${result} "${arguments}" PARENT_SCOPE)
        return()
    endif()
    if(given STREQUAL "")
        message(
            FATAL_ERROR
            "gen_operators_lib: no operators are selected: call gen_selected_ops with the same LIB_NAME first"
        )
    endif()
    if(executorch IN_LIST dependencies AND (ROOT_OPS OR OPS_SCHEMA_YAML))
        get_filename_component(root "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/.." ABSOLUTE)
        file(STRINGS "${root}/kernels/ops.yaml" rows REGEX "schema: \"executorch_prim::")
        list(TRANSFORM rows REPLACE ".*\"(executorch_prim::[^(]+)\\(.*" "\\1")
        list(APPEND ROOT_OPS ${rows})
    endif()
    # Sets the options of a selection, in this scope, to the library's values.
    rushlight_selection_files("${OPS_SCHEMA_YAML}" EXECUTORCH_SELECT_OPS_YAML "${CMAKE_CURRENT_SOURCE_DIR}")
    set(EXECUTORCH_SELECT_OPS_MODEL "${OPS_FROM_MODEL}")
    set(EXECUTORCH_SELECT_OPS_LIST "${ROOT_OPS}")
    set(EXECUTORCH_SELECT_ALL_OPS "${INCLUDE_ALL_OPS}")
    set(EXECUTORCH_ENABLE_DTYPE_SELECTIVE_BUILD OFF)
    foreach(choice IN LISTS by_dtype DTYPE_SELECTIVE_BUILD)
        if(choice)
            set(EXECUTORCH_ENABLE_DTYPE_SELECTIVE_BUILD ON)
        endif()
    endforeach()
    rushlight_generator_words(arguments selection)
    set(${result} "${arguments}" PARENT_SCOPE)
endfunction()

# Arguments of the code generator for kernels that YAML files bind to operators. A missing file that is named
# like one of ExecuTorch's (${EXECUTORCH_ROOT}/kernels/portable/functions.yaml) stands for our kernels.
function(rushlight_bound_kernels library result)
    set(arguments "")
    rushlight_option_flag(flag RUSHLIGHT_KERNEL_LIBRARIES)
    foreach(part IN ITEMS CUSTOM_OPS_YAML FUNCTIONS_YAML)
        get_property(given DIRECTORY PROPERTY "RUSHLIGHT_BOUND_${library}_${part}")
        if(given STREQUAL "")
            get_property(given DIRECTORY PROPERTY "RUSHLIGHT_BOUND__${part}")
        endif()
        rushlight_selection_files("${given}" files "${CMAKE_CURRENT_SOURCE_DIR}")
        foreach(file IN LISTS files)
            string(TOLOWER "${part}" name)
            if(EXISTS "${file}")
                list(APPEND arguments ${flag} "${name}=${file}")
                rushlight_watch("${file}")
            elseif(NOT file MATCHES "/kernels/(portable|optimized|quantized)/[a-z_-]+\\.yaml$")
                message(FATAL_ERROR "generate_bindings_for_kernels: ${part}: no such file: ${file}")
            endif()
        endforeach()
    endforeach()
    set(${result} "${arguments}" PARENT_SCOPE)
endfunction()

# rushlight_link_operators(<library>): targets that link the library compile linked_operators.cpp, which
# selects the tables of all linked libraries by compile definitions.
function(rushlight_link_operators library)
    set_property(GLOBAL APPEND PROPERTY RUSHLIGHT_OPERATOR_LIBRARIES "${library}")
    rushlight_count_operators(${library})
    rushlight_write_linked_operators(file)
    target_sources(${library} INTERFACE "${file}")
endfunction()

# rushlight_count_operators(<library>) records the number of operators that were generated last as the
# library's.
function(rushlight_count_operators library)
    list(LENGTH RUSHLIGHT_SELECTED_OPERATORS count)
    set_property(GLOBAL PROPERTY "RUSHLIGHT_OPERATORS_IN_${library}" "${count}")
    target_compile_definitions(${library} INTERFACE "RUSHLIGHT_LINKS_${library}")
endfunction()

# Writes linked_operators.cpp. Tables are searched in the order in which their libraries were defined,
# executorch_kernels last.
function(rushlight_write_linked_operators result)
    set(declarations "")
    set(tables "")
    get_property(libraries GLOBAL PROPERTY RUSHLIGHT_OPERATOR_LIBRARIES)
    foreach(library IN LISTS libraries ITEMS executorch_kernels)
        get_property(count GLOBAL PROPERTY "RUSHLIGHT_OPERATORS_IN_${library}")
        if(count GREATER 0)
            string(APPEND declarations "extern const KernelEntry entries_of_${library}[];\n")
            string(APPEND declarations "extern const char* const order_of_${library}[];\n")
            string(APPEND tables "#ifdef RUSHLIGHT_LINKS_${library}\n")
            string(APPEND tables "    {entries_of_${library}, ${count}, kTables + (__COUNTER__ - kFirst),\n")
            string(APPEND tables "     nullptr, order_of_${library}},\n")
            string(APPEND tables "#endif\n")
        endif()
    endforeach()
    set(file "${CMAKE_BINARY_DIR}/rushlight/linked_operators.cpp")
    file(
        CONFIGURE
        OUTPUT "${file}"
        CONTENT
            [[
// SPDX-License-Identifier: BSD-3-Clause
// Generated by cmake/operator_libraries.cmake; do not edit.
#include "runtime/executor/prepare_support.h"
#include "runtime/kernel/operator_table.h"

namespace rushlight {

@declarations@
namespace {
extern const OperatorTable kTables[];
enum { kFirst = __COUNTER__ };
const OperatorTable kTables[] = {
@tables@    {nullptr, 0, nullptr},
};
}  // namespace

const OperatorTable selected_operators = {nullptr, 0, kTables, kPrepareSupport};

}  // namespace rushlight
]]
        @ONLY
    )
    set(${result} "${file}" PARENT_SCOPE)
endfunction()

function(merge_yaml)
    cmake_parse_arguments(PARSE_ARGV 0 given "" "FUNCTIONS_YAML;FALLBACK_YAML;OUTPUT_DIR" "")
    rushlight_selection_files("${given_FUNCTIONS_YAML}" first "${CMAKE_CURRENT_SOURCE_DIR}")
    rushlight_selection_files("${given_FALLBACK_YAML}" second "${CMAKE_CURRENT_SOURCE_DIR}")
    rushlight_watch("${first}" "${second}")
    get_filename_component(out "${given_OUTPUT_DIR}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
    rushlight_run_generator(
        printed
        -m
        rushlight.codegen.merge_yaml
        "${first}"
        "${second}"
        "${out}/merged.yaml"
    )
endfunction()

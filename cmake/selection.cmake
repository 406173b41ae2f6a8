# SPDX-License-Identifier: BSD-3-Clause
# Runs the code generator whenever cmake configures: models, YAML files, the operator table and the generator
# itself are inputs of the configure step.

include("${CMAKE_CURRENT_LIST_DIR}/watch.cmake")

# rushlight_select_kernels(<folder>) generates what options.cmake selects, for the library executorch_kernels;
# sets what rushlight_generate sets.
function(rushlight_select_kernels out)
    rushlight_selection_files("${EXECUTORCH_SELECT_OPS_YAML}" yaml)
    rushlight_selection_files("${EXECUTORCH_SELECT_OPS_MODEL}" models)
    rushlight_selection_arguments(
        arguments
        OPERATORS ${EXECUTORCH_SELECT_OPS_LIST}
        YAML ${yaml}
        MODELS ${models}
        ALL "${RUSHLIGHT_SELECT_ALL}"
        BY_DTYPE "${EXECUTORCH_ENABLE_DTYPE_SELECTIVE_BUILD}"
    )
    if(RUSHLIGHT_BUILD_COMPAT)
        list(APPEND arguments --official-names)
    endif()
    rushlight_library_arguments(libraries)
    if(RUSHLIGHT_LIST_PORTABLE)
        list(APPEND libraries --list-portable)
    endif()
    get_property(backends GLOBAL PROPERTY RUSHLIGHT_BACKEND_ARGUMENTS)
    rushlight_generate("${out}" ${arguments} ${libraries} ${backends})
    rushlight_generated_lists(names)
    foreach(name IN LISTS names)
        set(RUSHLIGHT_${name} "${RUSHLIGHT_${name}}" PARENT_SCOPE)
    endforeach()
endfunction()

# rushlight_selection_arguments(<result> [OPERATORS <names>] [YAML <files>] [MODELS <files>] [ALL <boolean>]
#     [BY_DTYPE <boolean>]): the generator's words for a selection. Files are absolute and watched.
function(rushlight_selection_arguments result)
    cmake_parse_arguments(PARSE_ARGV 1 given "" "" "ALL;BY_DTYPE;OPERATORS;YAML;MODELS")
    set(arguments "")
    # A list in one argument comes with its semicolons escaped.
    string(REGEX REPLACE "\\\\?;" "," operators "${given_OPERATORS}")
    if(NOT operators STREQUAL "")
        list(APPEND arguments --root-ops "${operators}")
    endif()
    foreach(file IN LISTS given_YAML)
        list(APPEND arguments --ops-yaml "${file}")
    endforeach()
    foreach(file IN LISTS given_MODELS)
        list(APPEND arguments --model "${file}")
    endforeach()
    # Before anything is read: a failed configure step, too, is to run again when its inputs change.
    rushlight_watch(${given_YAML} ${given_MODELS})
    if(given_ALL)
        list(APPEND arguments --all-ops)
    endif()
    if(given_BY_DTYPE)
        list(APPEND arguments --dtypes model)
    endif()
    if(NOT "${RUSHLIGHT_DTYPES}" STREQUAL "")
        string(REPLACE ";" "," dtypes "${RUSHLIGHT_DTYPES}")
        list(APPEND arguments --only-dtypes "${dtypes}")
    endif()
    set(${result} "${arguments}" PARENT_SCOPE)
endfunction()

# The YAML files of the build's own kernel libraries.
function(rushlight_library_files result)
    set(files "")
    rushlight_selection_files("${RUSHLIGHT_KERNEL_LIBRARIES}" libraries)
    foreach(library IN LISTS libraries)
        if(IS_DIRECTORY "${library}")
            file(GLOB found "${library}/*.yaml")
            list(APPEND files ${found})
        else()
            list(APPEND files "${library}")
        endif()
    endforeach()
    set(${result} "${files}" PARENT_SCOPE)
endfunction()

# rushlight_library_arguments(<result>): the words for the kernel libraries of the build and their order.
function(rushlight_library_arguments result)
    set(arguments "")
    rushlight_selection_files("${RUSHLIGHT_KERNEL_LIBRARIES}" folders)
    foreach(folder IN LISTS folders)
        list(APPEND arguments --library "${folder}")
    endforeach()
    set(software OFF)
    if(RUSHLIGHT_SMALL_KERNELS)
        rushlight_floats_in_software(software)
    endif()
    if(NOT "${RUSHLIGHT_LIBRARY_PRIORITY}" STREQUAL "")
        string(REPLACE ";" "," priority "${RUSHLIGHT_LIBRARY_PRIORITY}")
        list(APPEND arguments --priority "${priority}")
    elseif(software)
        # Nothing makes up there for what a product costs, and portable kernels are smaller.
        list(APPEND arguments --priority portable)
    endif()
    string(REPLACE "," ";" preferred "${RUSHLIGHT_PREFER}")
    foreach(choice IN LISTS preferred)
        list(APPEND arguments --prefer "${choice}")
    endforeach()
    set(${result} "${arguments}" PARENT_SCOPE)
endfunction()

# The lists of selection.cmake, without the prefix RUSHLIGHT_, that rushlight_generate gives its caller.
function(rushlight_generated_lists result)
    set(${result}
        KERNEL_SOURCES
        KERNEL_SELECTIONS
        SHARED_KERNEL_SOURCES
        EXACT_KERNEL_SOURCES
        UKERNELS
        OFFICIAL_KERNELS
        OFFICIAL_KERNEL_SOURCES
        SELECTED_OPERATORS
        PARENT_SCOPE
    )
endfunction()

# rushlight_generate(<folder> <words>...) writes operator_table.cpp, rushlight/selected_dtypes.h and
# selected_operators.yaml there, and sets RUSHLIGHT_KERNEL_SOURCES, RUSHLIGHT_SHARED_KERNEL_SOURCES (what
# they need besides) and the other lists of selection.cmake for the caller.
function(rushlight_generate out)
    set(target_arguments "")
    if(RUSHLIGHT_SMALL_KERNELS)
        list(APPEND target_arguments --small)
    endif()
    if(NOT RUSHLIGHT_PREPARE_KERNELS)
        list(APPEND target_arguments --no-prepare)
    endif()
    rushlight_run_generator(
        summary
        -m
        rushlight.codegen
        --ops-table
        "@ROOT@/kernels/ops.yaml"
        --out
        "${out}"
        ${target_arguments}
        ${ARGN}
    )
    message(STATUS "Selected ${summary}")
    include("${out}/selection.cmake")
    # A kernel that includes another header may need another shared source.
    rushlight_watch(${RUSHLIGHT_SELECTION_DEPENDS})
    rushlight_generated_lists(names)
    foreach(name IN LISTS names)
        set(RUSHLIGHT_${name} "${RUSHLIGHT_${name}}" PARENT_SCOPE)
    endforeach()
endfunction()

# rushlight_run_generator(<result> <words>...) runs Python with the words, of which @ROOT@ stands for the
# folder that has kernels/, and takes what it prints.
function(rushlight_run_generator result)
    if(DEFINED PYTHON_EXECUTABLE AND NOT DEFINED Python_EXECUTABLE)
        set(Python_EXECUTABLE "${PYTHON_EXECUTABLE}")
    endif()
    find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
    get_filename_component(root "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/.." ABSOLUTE)
    string(REPLACE "@ROOT@" "${root}" words "${ARGN}")
    rushlight_python_folder("${root}" python)
    # Before what is there: an isolated pip build has its packages on PYTHONPATH.
    set(python_path "${python}")
    if(DEFINED ENV{PYTHONPATH})
        string(APPEND python_path ":$ENV{PYTHONPATH}")
    endif()
    execute_process(
        COMMAND "${CMAKE_COMMAND}" -E env "PYTHONPATH=${python_path}" "${Python_EXECUTABLE}" ${words}
        RESULT_VARIABLE status
        OUTPUT_VARIABLE printed
        ERROR_VARIABLE problem
        OUTPUT_STRIP_TRAILING_WHITESPACE
        ERROR_STRIP_TRAILING_WHITESPACE
    )
    file(
        GLOB generator
        "${python}/rushlight/codegen/*.py"
        "${python}/rushlight/program/*.py"
        "${python}/rushlight/*.py"
    )
    rushlight_watch("${root}/kernels/ops.yaml" ${generator})
    if(NOT status EQUAL 0)
        string(REPLACE "\n" "\n  " problem "${problem}")
        message(
            FATAL_ERROR
            "Selecting operators failed (exit code ${status}), with ${Python_EXECUTABLE} (another one: activate its "
            "environment or set Python_EXECUTABLE):\n  ${problem}"
        )
    endif()
    set(${result} "${printed}" PARENT_SCOPE)
endfunction()

# Lets each kernel source see the selection of its own operators only, so that a row rebuilds one kernel.
# Products of matrices and what follows them serve several operators and see all.
function(rushlight_narrow_selection out)
    foreach(source folder IN ZIP_LISTS RUSHLIGHT_KERNEL_SOURCES RUSHLIGHT_KERNEL_SELECTIONS)
        set_property(SOURCE "${source}" PROPERTY INCLUDE_DIRECTORIES "${out}/${folder}")
    endforeach()
    set(shared "${RUSHLIGHT_SHARED_KERNEL_SOURCES}")
    list(FILTER shared EXCLUDE REGEX "/(activation|convolution|matmul)\\.cpp$")
    set_property(SOURCE ${shared} PROPERTY INCLUDE_DIRECTORIES "${out}/sources/shared")
endfunction()

# Whether an option that is no boolean holds nothing: projects may declare it by option(), and then it is OFF.
function(rushlight_says_no value result)
    set(${result} OFF PARENT_SCOPE)
    if(value MATCHES "^(OFF|Off|off|NO|No|no|FALSE|False|false|0)?$")
        set(${result} ON PARENT_SCOPE)
    endif()
endfunction()

# The folder that holds the Python package: python/ here, or around a tree that lies in the package.
function(rushlight_python_folder root result)
    set(folder "${root}/python")
    if(NOT EXISTS "${folder}/rushlight/codegen")
        # The tree may be reached through a link; the package is around the tree itself.
        get_filename_component(folder "${root}" REALPATH)
        get_filename_component(folder "${folder}/../.." ABSOLUTE)
    endif()
    set(${result} "${folder}" PARENT_SCOPE)
endfunction()

# rushlight_selection_files(<text> <result> [<folder>]): paths separated by ; or , as absolute ones; relative ones
# start at `folder`, left out: the source folder that cmake was called with. What says no is no path.
function(rushlight_selection_files text result)
    set(folder "${CMAKE_SOURCE_DIR}")
    if(ARGC GREATER 2)
        set(folder "${ARGV2}")
    endif()
    set(files "")
    string(REPLACE "," ";" given "${text}")
    foreach(file IN LISTS given)
        string(STRIP "${file}" file)
        rushlight_says_no("${file}" none)
        if(NOT none)
            get_filename_component(file "${file}" ABSOLUTE BASE_DIR "${folder}")
            list(APPEND files "${file}")
        endif()
    endforeach()
    set(${result} "${files}" PARENT_SCOPE)
endfunction()

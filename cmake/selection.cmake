# SPDX-License-Identifier: BSD-3-Clause
# Runs the code generator for what options.cmake selects, whenever cmake configures: models, YAML files,
# the operator table and the generator itself are inputs of the configure step.

get_filename_component(RUSHLIGHT_ROOT "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)

# rushlight_select_kernels(<folder>) writes operator_table.cpp, rushlight/selected_dtypes.h and
# selected_operators.yaml there, and sets RUSHLIGHT_KERNEL_SOURCES, RUSHLIGHT_SHARED_KERNEL_SOURCES (those of
# kernels/shared that they need), RUSHLIGHT_SELECTED_OPERATORS and RUSHLIGHT_SELECTION_DEPENDS for the caller.
function(rushlight_select_kernels out)
    find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
    rushlight_python_folder(python)
    rushlight_selection_arguments(arguments)
    # Before what is there: an isolated pip build has its packages on PYTHONPATH.
    set(python_path "${python}")
    if(DEFINED ENV{PYTHONPATH})
        string(APPEND python_path ":$ENV{PYTHONPATH}")
    endif()
    execute_process(
        COMMAND
            "${CMAKE_COMMAND}" -E env "PYTHONPATH=${python_path}" "${Python_EXECUTABLE}" -m rushlight.codegen
            --ops-table "${RUSHLIGHT_ROOT}/kernels/ops.yaml" --out "${out}" ${arguments}
        RESULT_VARIABLE status
        OUTPUT_VARIABLE summary
        ERROR_VARIABLE problem
        OUTPUT_STRIP_TRAILING_WHITESPACE
        ERROR_STRIP_TRAILING_WHITESPACE
    )
    # Before the check: a failed configure step, too, is to run again when its inputs change.
    rushlight_watch_selection("${python}")
    if(NOT status EQUAL 0)
        string(REPLACE "\n" "\n  " problem "${problem}")
        message(
            FATAL_ERROR
            "Selecting operators failed (exit code ${status}), with ${Python_EXECUTABLE} (another one: activate its "
            "environment or set Python_EXECUTABLE):\n  ${problem}"
        )
    endif()
    message(STATUS "Selected ${summary}")
    include("${out}/selection.cmake")
    # A kernel that includes another header may need another shared source.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${RUSHLIGHT_SELECTION_DEPENDS})
    foreach(name IN ITEMS KERNEL_SOURCES SHARED_KERNEL_SOURCES SELECTED_OPERATORS SELECTION_DEPENDS)
        set(RUSHLIGHT_${name} "${RUSHLIGHT_${name}}" PARENT_SCOPE)
    endforeach()
endfunction()

# Lets each kernel source see the selection of its own operators only, so that a row rebuilds one kernel.
# Products of matrices serve several operators and see all.
function(rushlight_narrow_selection out)
    foreach(source IN LISTS RUSHLIGHT_KERNEL_SOURCES)
        cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${RUSHLIGHT_ROOT}/kernels" OUTPUT_VARIABLE name)
        cmake_path(REMOVE_EXTENSION name LAST_ONLY)
        set_property(SOURCE "${source}" PROPERTY INCLUDE_DIRECTORIES "${out}/sources/${name}")
    endforeach()
    set(shared "${RUSHLIGHT_SHARED_KERNEL_SOURCES}")
    list(FILTER shared EXCLUDE REGEX "/(convolution|matmul)\\.cpp$")
    set_property(SOURCE ${shared} PROPERTY INCLUDE_DIRECTORIES "${out}/sources/shared")
endfunction()

# The folder that holds the Python package: python/ here, or around a tree that lies in the package.
function(rushlight_python_folder result)
    set(folder "${RUSHLIGHT_ROOT}/python")
    if(NOT EXISTS "${folder}/rushlight/codegen")
        # The tree may be reached through a link; the package is around the tree itself.
        get_filename_component(folder "${RUSHLIGHT_ROOT}" REALPATH)
        get_filename_component(folder "${folder}/../.." ABSOLUTE)
    endif()
    set(${result} "${folder}" PARENT_SCOPE)
endfunction()

function(rushlight_selection_files option result)
    set(files "")
    string(REPLACE "," ";" given "${${option}}")
    foreach(file IN LISTS given)
        string(STRIP "${file}" file)
        if(NOT file STREQUAL "")
            get_filename_component(file "${file}" ABSOLUTE BASE_DIR "${CMAKE_SOURCE_DIR}")
            list(APPEND files "${file}")
        endif()
    endforeach()
    set(${result} "${files}" PARENT_SCOPE)
endfunction()

function(rushlight_selection_arguments result)
    set(arguments "")
    if(NOT EXECUTORCH_SELECT_OPS_LIST STREQUAL "")
        string(REPLACE ";" "," names "${EXECUTORCH_SELECT_OPS_LIST}")
        list(APPEND arguments --root-ops "${names}")
    endif()
    rushlight_selection_files(EXECUTORCH_SELECT_OPS_YAML files)
    foreach(file IN LISTS files)
        list(APPEND arguments --ops-yaml "${file}")
    endforeach()
    rushlight_selection_files(EXECUTORCH_SELECT_OPS_MODEL files)
    foreach(file IN LISTS files)
        list(APPEND arguments --model "${file}")
    endforeach()
    if(RUSHLIGHT_SELECT_ALL)
        list(APPEND arguments --all-ops)
    endif()
    if(EXECUTORCH_ENABLE_DTYPE_SELECTIVE_BUILD)
        list(APPEND arguments --dtypes model)
    endif()
    if(NOT RUSHLIGHT_DTYPES STREQUAL "")
        string(REPLACE ";" "," dtypes "${RUSHLIGHT_DTYPES}")
        list(APPEND arguments --only-dtypes "${dtypes}")
    endif()
    if(RUSHLIGHT_BUILD_COMPAT)
        list(APPEND arguments --official-names)
    endif()
    get_property(backends GLOBAL PROPERTY RUSHLIGHT_BACKEND_ARGUMENTS)
    list(APPEND arguments ${backends})
    set(${result} "${arguments}" PARENT_SCOPE)
endfunction()

function(rushlight_watch_selection python)
    rushlight_selection_files(EXECUTORCH_SELECT_OPS_YAML yaml)
    rushlight_selection_files(EXECUTORCH_SELECT_OPS_MODEL models)
    file(
        GLOB generator
        "${python}/rushlight/codegen/*.py"
        "${python}/rushlight/program/*.py"
        "${python}/rushlight/errors.py"
    )
    set_property(
        DIRECTORY
        APPEND
        PROPERTY CMAKE_CONFIGURE_DEPENDS "${RUSHLIGHT_ROOT}/kernels/ops.yaml" ${yaml} ${models} ${generator}
    )
endfunction()

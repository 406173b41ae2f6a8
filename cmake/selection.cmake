# SPDX-License-Identifier: BSD-3-Clause
# Runs the code generator during configure. Models, YAML files, the operator table and the generator itself
# are inputs of the configure step.

include("${CMAKE_CURRENT_LIST_DIR}/option_table.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/watch.cmake")

# rushlight_select_kernels(<folder>) generates the selection of options.cmake, for the library
# executorch_kernels; sets the variables of rushlight_generate.
function(rushlight_select_kernels out)
    rushlight_generator_words(arguments selection libraries build)
    # An explicit priority also applies to floating-point kernels.
    rushlight_names("${RUSHLIGHT_LIBRARY_PRIORITY}" priority)
    if(RUSHLIGHT_HAS_SMALL AND NOT priority)
        rushlight_floats_in_software(software)
        if(software)
            list(APPEND arguments --floats-in-software)
        endif()
    endif()
    get_property(backends GLOBAL PROPERTY RUSHLIGHT_BACKEND_ARGUMENTS)
    rushlight_generate("${out}" ${arguments} ${backends})
    rushlight_generated_lists(names)
    foreach(name IN LISTS names)
        set(RUSHLIGHT_${name} "${RUSHLIGHT_${name}}" PARENT_SCOPE)
    endforeach()
endfunction()

# The YAML files of RUSHLIGHT_KERNEL_LIBRARIES.
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

# Names of the lists in selection.cmake, without the prefix RUSHLIGHT_, that rushlight_generate passes to its
# caller.
function(rushlight_generated_lists result)
    set(${result}
        KERNEL_SOURCES
        KERNEL_SELECTIONS
        SHARED_KERNEL_SOURCES
        NARROW_KERNEL_SOURCES
        BACK_KERNEL_SOURCES
        EXACT_KERNEL_SOURCES
        UKERNELS
        UKERNEL_HINTS
        OFFICIAL_KERNELS
        OFFICIAL_KERNEL_SOURCES
        SELECTED_OPERATORS
        PARENT_SCOPE
    )
endfunction()

# rushlight_generate(<folder> <words>...) writes operator_table.cpp, rushlight/selected_dtypes.h and
# selected_operators.yaml to <folder>. Sets for the caller RUSHLIGHT_KERNEL_SOURCES,
# RUSHLIGHT_SHARED_KERNEL_SOURCES (sources that several kernels need) and the other lists of selection.cmake.
function(rushlight_generate out)
    rushlight_generator_words(target_arguments target)
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

# rushlight_run_generator(<result> <words>...) runs Python with these arguments and returns its output. @ROOT@
# in an argument stands for the folder that contains kernels/.
function(rushlight_run_generator result)
    if(DEFINED PYTHON_EXECUTABLE AND NOT DEFINED Python_EXECUTABLE)
        set(Python_EXECUTABLE "${PYTHON_EXECUTABLE}")
    endif()
    find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
    get_filename_component(root "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/.." ABSOLUTE)
    string(REPLACE "@ROOT@" "${root}" words "${ARGN}")
    rushlight_python_folder("${root}" python)
    # Before an existing PYTHONPATH, on which an isolated pip build has its packages.
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
            "Selecting operators failed with exit code ${status}. Interpreter: ${Python_EXECUTABLE} (to use another one, "
            "activate its environment or set Python_EXECUTABLE).\n  ${problem}"
        )
    endif()
    set(${result} "${printed}" PARENT_SCOPE)
endfunction()

# Lets each kernel source see only the selection of its operators, so that a change of one row rebuilds
# one kernel. Sources that several operators share see none of it, or all.
function(rushlight_narrow_selection out)
    foreach(source folder IN ZIP_LISTS RUSHLIGHT_KERNEL_SOURCES RUSHLIGHT_KERNEL_SELECTIONS)
        set_property(SOURCE "${source}" PROPERTY INCLUDE_DIRECTORIES "${out}/${folder}")
    endforeach()
    set_property(
        SOURCE ${RUSHLIGHT_NARROW_KERNEL_SOURCES}
        PROPERTY INCLUDE_DIRECTORIES "${out}/sources/shared"
    )
endfunction()

# The folder that contains the Python package: python/ of this tree, or the folder around a tree inside of the
# package.
function(rushlight_python_folder root result)
    set(folder "${root}/python")
    if(NOT EXISTS "${folder}/rushlight/codegen")
        # The tree may be reached through a symbolic link; the package is around the tree itself.
        get_filename_component(folder "${root}" REALPATH)
        get_filename_component(folder "${folder}/../.." ABSOLUTE)
    endif()
    set(${result} "${folder}" PARENT_SCOPE)
endfunction()

# SPDX-License-Identifier: BSD-3-Clause
# Helper functions that CMake projects for ExecuTorch call, with the parts that apply to rushlight.

# No-ops: constant tables refer to every kernel, so no library must be linked whole.
function(executorch_target_link_options_shared_lib)
endfunction()
function(target_link_options_shared_lib)
endfunction()
function(executorch_kernel_link_options)
endfunction()

function(target_link_options_gc_sections target)
    target_link_options(${target} PRIVATE LINKER:--gc-sections)
endfunction()
function(executorch_target_link_options_gc_sections target)
    target_link_options(${target} PRIVATE LINKER:--gc-sections)
endfunction()

function(resolve_python_executable)
    if(NOT PYTHON_EXECUTABLE)
        find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
        set(PYTHON_EXECUTABLE "${Python_EXECUTABLE}" PARENT_SCOPE)
    endif()
endfunction()

# Sets _executor_runner__srcs to the sources of executor_runner, relative to the folder that projects expect.
# Defines libraries that ExecuTorch's runner links, and this one does not need, as empty.
function(executorch_load_build_variables)
    get_filename_component(root "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/.." ABSOLUTE)
    file(GLOB sources RELATIVE "${root}/runtime/runner" "${root}/runtime/runner/*.cpp")
    list(FILTER sources EXCLUDE REGEX "^baked_") # part of another program
    if(NOT EXECUTORCH_ENABLE_EVENT_TRACER)
        list(REMOVE_ITEM sources trace_files.cpp)
    endif()
    list(TRANSFORM sources PREPEND "../../runtime/runner/")
    set(_executor_runner__srcs "${sources}" PARENT_SCOPE)
    foreach(name IN ITEMS gflags gflags::gflags)
        if(NOT TARGET ${name})
            add_library(${name} INTERFACE IMPORTED GLOBAL)
        endif()
    endforeach()
endfunction()

# The same, as a file that the caller includes.
function(extract_sources file)
    executorch_load_build_variables()
    file(WRITE "${file}" "set(_executor_runner__srcs \"${_executor_runner__srcs}\")\n")
endfunction()

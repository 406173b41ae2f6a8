# SPDX-License-Identifier: BSD-3-Clause
# Finds Python and pybind11; pybind11 as a CMake package or in the Python package.
set(PYBIND11_FINDPYTHON ON)
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
if(NOT pybind11_DIR)
    execute_process(
        COMMAND "${Python_EXECUTABLE}" -m pybind11 --cmakedir
        OUTPUT_VARIABLE pybind11_DIR
        OUTPUT_STRIP_TRAILING_WHITESPACE
        ERROR_QUIET
    )
endif()
find_package(pybind11 CONFIG)
if(NOT pybind11_FOUND)
    message(
        FATAL_ERROR
        "${Python_EXECUTABLE} has no pybind11: `pip install pybind11` there, or activate another environment"
    )
endif()

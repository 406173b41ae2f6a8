# SPDX-License-Identifier: BSD-3-Clause
"""The operator table and a selection of it, turned into C++ and CMake. `python -m rushlight.codegen`."""

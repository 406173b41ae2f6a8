# SPDX-License-Identifier: BSD-3-Clause
"""Generates C++ and CMake from the operator table and a selection of it: `python -m rushlight.codegen`."""

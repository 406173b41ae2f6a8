# SPDX-License-Identifier: BSD-3-Clause
"""Baked programs: a model as C++ that calls its kernels on static tensors."""

from rushlight.codegen.bake.api import Baked, bake, program_name

__all__ = ["Baked", "bake", "program_name"]

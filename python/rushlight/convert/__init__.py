# SPDX-License-Identifier: BSD-3-Clause
"""Lets programs that others made compute in integers: reads a method's calls as a graph, applies the rules of
rushlight.integers, plans its memory anew and writes it again. Without torch."""

from rushlight.convert.api import Conversion, convert
from rushlight.convert.files import convert_file, converted_model

__all__ = ["Conversion", "convert", "convert_file", "converted_model"]

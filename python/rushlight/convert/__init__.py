# SPDX-License-Identifier: BSD-3-Clause
"""Converts existing programs to integer arithmetic: reads a method's calls as a graph, applies the rules of
rushlight.integers, plans its memory and writes it again. Does not import torch."""

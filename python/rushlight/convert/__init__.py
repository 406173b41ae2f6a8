# SPDX-License-Identifier: BSD-3-Clause
"""Lets programs that others made compute in integers: reads a method's calls as a graph, applies the rules of
rushlight.integers, plans its memory anew and writes it again. Without torch."""

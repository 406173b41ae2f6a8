# SPDX-License-Identifier: BSD-3-Clause
"""Turns graphs that compute with floats between dequantize and quantize into graphs of integer operators.

The rules know neither PyTorch nor program files: `graph.Graph` is what they see of either.
"""

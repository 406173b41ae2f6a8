# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites graphs that compute in float between dequantize and quantize to graphs of integer operators.

The rules depend on neither PyTorch nor program files: `graph.Graph` is their interface to both.
"""

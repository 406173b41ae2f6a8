# SPDX-License-Identifier: BSD-3-Clause
"""Operators of the exporter's own that graphs use between PyTorch's and the runtime's."""

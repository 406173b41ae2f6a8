# SPDX-License-Identifier: BSD-3-Clause
"""Dim orders: the facts, the requirements of operators, the passes that assign them."""

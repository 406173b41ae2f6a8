# SPDX-License-Identifier: BSD-3-Clause
"""Dim orders: the facts, what operators ask, the passes that decide them."""

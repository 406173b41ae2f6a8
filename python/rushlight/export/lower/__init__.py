# SPDX-License-Identifier: BSD-3-Clause
"""Lowers edge-dialect graphs to instructions over storages."""

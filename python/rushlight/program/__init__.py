# SPDX-License-Identifier: BSD-3-Clause
"""Reads program files (.pte) without torch."""

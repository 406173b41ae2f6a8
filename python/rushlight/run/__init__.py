# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs on this machine and on targets, and compares their outputs with the expected ones."""

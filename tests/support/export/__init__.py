# SPDX-License-Identifier: BSD-3-Clause
"""Exports modules, runs them here and on the official runtime, and judges the outputs."""

# SPDX-License-Identifier: BSD-3-Clause
"""Modules that are exported, run here and on the official runtime, and judged."""

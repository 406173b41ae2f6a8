# SPDX-License-Identifier: BSD-3-Clause
"""Traces of what was executed: how to ask a runner for one, and where the time in it went."""

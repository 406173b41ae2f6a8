# SPDX-License-Identifier: BSD-3-Clause
"""Traces of executed programs: requests for a trace, and profiles of one."""

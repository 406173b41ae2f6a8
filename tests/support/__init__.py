# SPDX-License-Identifier: BSD-3-Clause
"""Modules that several tests import. tests/ is on pytest's path, and on that of scripts that use them."""

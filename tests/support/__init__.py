# SPDX-License-Identifier: BSD-3-Clause
"""Modules that several tests import. tests/ is on the path of pytest and of the scripts that use them."""

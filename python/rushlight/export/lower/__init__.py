# SPDX-License-Identifier: BSD-3-Clause
"""From edge dialect graphs to instructions over storages."""

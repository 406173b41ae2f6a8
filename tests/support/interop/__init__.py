# SPDX-License-Identifier: BSD-3-Clause
"""Networks, and the programs that the official package exports from them."""

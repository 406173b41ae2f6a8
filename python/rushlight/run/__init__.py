# SPDX-License-Identifier: BSD-3-Clause
"""Running programs against expectations, on this machine and on targets."""

# SPDX-License-Identifier: BSD-3-Clause
"""From PyTorch models to programs (.pte)."""

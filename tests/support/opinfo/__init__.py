# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch's OpInfo database, replayed on the kernels."""

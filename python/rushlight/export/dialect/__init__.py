# SPDX-License-Identifier: BSD-3-Clause
"""The exporter's operators between those of PyTorch and those of the runtime."""

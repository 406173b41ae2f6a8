# SPDX-License-Identifier: BSD-3-Clause
"""Export, build and run ExecuTorch programs on hosts and microcontrollers."""

__version__ = "0.1.0"

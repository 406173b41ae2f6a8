# SPDX-License-Identifier: BSD-3-Clause
"""Models × targets × options, built and run side by side."""

# SPDX-License-Identifier: BSD-3-Clause
"""Builds and runs all combinations of models, targets and options in parallel."""

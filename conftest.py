# SPDX-License-Identifier: BSD-3-Clause
"""Keeps pytest out of the build output beside the tests, when it is given the whole checkout."""

collect_ignore = ["build", "dist", "out", "rushlight-build"]

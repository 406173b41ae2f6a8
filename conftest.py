# SPDX-License-Identifier: BSD-3-Clause
"""Keeps pytest out of the build output beside the tests, if it is given the whole checkout; adds --shard."""

pytest_plugins = ["support.shards"]

collect_ignore = ["build", "dist", "out", "rushlight-build"]

# SPDX-License-Identifier: BSD-3-Clause
"""The command line: argument parsing and printing only, one file a command."""

COMPLETE_VARIABLE = "_RUSHLIGHT_COMPLETE"
"""Environment variable by which a shell asks click for completions."""

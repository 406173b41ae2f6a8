# SPDX-License-Identifier: BSD-3-Clause
"""The command line: argument parsing and printing only, one file a command."""

# SPDX-License-Identifier: BSD-3-Clause
"""The report, debug record and test cases of a program, and the check that it fits in memory."""

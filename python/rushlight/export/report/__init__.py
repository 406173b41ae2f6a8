# SPDX-License-Identifier: BSD-3-Clause
"""What comes with a program: the report, the debug record, test cases; and whether it fits in memory."""

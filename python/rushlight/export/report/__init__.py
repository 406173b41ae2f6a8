# SPDX-License-Identifier: BSD-3-Clause
"""The products beside a program: report, debug record, test cases, and the memory check."""

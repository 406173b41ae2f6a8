# SPDX-License-Identifier: BSD-3-Clause
"""What is told beside the program: the report, the debug record, test cases, and what cannot run."""

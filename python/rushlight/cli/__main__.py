# SPDX-License-Identifier: BSD-3-Clause
"""python -m rushlight.cli"""

from rushlight.cli.main import main

main()

# SPDX-License-Identifier: BSD-3-Clause
"""Runs the files of of_versions/, which versions of the official package wrote: `check_versions.py`.

Prints README.md's table of them; with --write puts it there. The exit code is 1 if a file does not load or
does not give PyTorch's numbers.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import written
from support.interop.of_versions import README, table


def main() -> int:
    """Print or write the table."""
    text, good = table()
    if sys.argv[1:] == ["--write"]:
        written.write(README, "of-versions", text)
    else:
        print(text, end="")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

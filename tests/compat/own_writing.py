# SPDX-License-Identifier: BSD-3-Clause
"""Measures how much text the C++ of this repository shares with the official headers.

python tests/compat/own_writing.py          # the table: file, longest span, shared part
python tests/compat/own_writing.py FILE     # the shared spans of one file
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.own_writing import Official, official, official_headers, read, table, writing


def main() -> None:
    include = official_headers()
    if include is None:
        sys.exit("executorch: expected the package, got none; install tests/constraints.txt's version")
    if len(sys.argv) > 1:
        tokens = read(Path(sys.argv[1]), writing)
        for start, length, where in Official(official(include)).compare(tokens).shared:
            print(f"{length} tokens of {where}: {' '.join(tokens[start : start + length])}\n")
        return
    rows = [row for row in table(include) if row[1].covered or row[2].longest > 60]
    print(f"{'tokens':>7} {'longest':>7} {'shared':>7} {'unnamed':>7} {'share':>7}  file")
    for name, named, form in sorted(rows, key=lambda row: (-row[1].longest, -row[1].share)):
        print(
            f"{named.tokens:7} {named.longest:7} {named.share:7.0%} "
            f"{form.longest:7} {form.share:7.0%}  {name}"
        )


if __name__ == "__main__":
    main()

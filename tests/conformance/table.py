# SPDX-License-Identifier: BSD-3-Clause
"""A table of programs × targets: outputs compared with PyTorch's.

    python tests/conformance/table.py [--cases FOLDER] [--out FOLDER] [TARGET...]

Writes conformance.md, conformance.json and conformance.html into OUT and prints the first; the exit code is
1 if a program failed. Builds one runner a target below OUT.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from rushlight.run.conformance import find_cases, run_conformance

INTEROP = Path(__file__).parents[1] / "interop"
TARGETS = ["host", "linux-aarch64", "cortex-m55", "rv32imafc"]


def main() -> int:
    """Runs the cases of a folder on the named targets."""
    parser = argparse.ArgumentParser(description="Run cases on targets and write a table of the results.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", default=TARGETS, help=", ".join(TARGETS))
    parser.add_argument("--cases", type=Path, default=INTEROP, help="folder of cases (tests/interop)")
    parser.add_argument("--out", type=Path, default=Path("out/conformance"), help="where to write")
    options = parser.parse_args()
    result = run_conformance(find_cases(options.cases), options.targets, options.out, root=options.cases)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "conformance.md").write_text(result.to_markdown())
    (options.out / "conformance.json").write_text(json.dumps(result.to_json(), indent=1) + "\n")
    (options.out / "conformance.html").write_text(result.to_html())
    print(result.to_markdown(), end="")
    return 0 if result.passed else 1


if __name__ == "__main__":
    sys.exit(main())

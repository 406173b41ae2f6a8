# SPDX-License-Identifier: BSD-3-Clause
"""The main() of examples for ecosystems with printf."""

from __future__ import annotations

from rushlight.package.contents import Contents


def plain_main(contents: Contents, head: str = "int main()") -> str:
    """C++ that runs the example once and prints the result; its exit status is the error's code."""
    returned = "  return error;\n" if head.startswith("int ") else ""
    return (
        f"// SPDX-License-Identifier: BSD-3-Clause\n#include <cstdio>\n\n{contents.example}\n"
        f"{head} {{\n"
        "  const int error = run_example();\n"
        '  std::printf("error %d\\n", error);\n'
        f"{returned}}}\n"
    )

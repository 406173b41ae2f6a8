# SPDX-License-Identifier: BSD-3-Clause
"""main() of the examples whose ecosystem has printf."""

from __future__ import annotations

from rushlight.package.contents import Contents


def plain_main(contents: Contents, head: str = "int main()") -> str:
    """C++ that runs the example once and says what came of it; its exit status is the error's number."""
    returned = "  return error;\n" if head.startswith("int ") else ""
    return (
        f"// SPDX-License-Identifier: BSD-3-Clause\n#include <cstdio>\n\n{contents.example}\n"
        f"{head} {{\n"
        "  const int error = run_example();\n"
        '  std::printf("error %d\\n", error);\n'
        f"{returned}}}\n"
    )

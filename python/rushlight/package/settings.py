# SPDX-License-Identifier: BSD-3-Clause
"""The few files of a package that come from neither rushlight nor the model. They contain the settings that
our own builds pass on the command line, which not every package form has."""

from __future__ import annotations

_SETTINGS = """\
// SPDX-License-Identifier: BSD-3-Clause
// What this package is compiled with; to be edited, or given to the compiler as -D.
#pragma once

#if __cplusplus < 201703L
#error "C++17 is needed: add -std=gnu++17 to the compiler's flags, or take a newer core for the board"
#endif

// Lowest level of messages that is compiled in: 0 debug, 1 info, 2 error, 3 none. An application that wants
// them defines rushlight::platform::emit_log (runtime/platform/platform.h).
#ifndef RUSHLIGHT_LOG_LEVEL
#define RUSHLIGHT_LOG_LEVEL 3
#endif

// Numbers of failed checks, for those who have rushlight::failure_trace() print them.
#ifndef RUSHLIGHT_FAILURE_TRACE
#define RUSHLIGHT_FAILURE_TRACE 0
#endif
"""

_SOURCE = """\
// SPDX-License-Identifier: BSD-3-Clause
// First in every source of this package.
#pragma once

// Assertions are for those who change rushlight.
#ifndef NDEBUG
#define NDEBUG
#endif

#include "rushlight/settings.h"
"""

_EXACT = """\
// SPDX-License-Identifier: BSD-3-Clause
// For sources whose numbers are the same on every CPU: no multiplication is fused with an addition.
#pragma once

#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
"""

_PLATFORM = """\
// SPDX-License-Identifier: BSD-3-Clause
// What the sources ask of the machine, unless the application defines it.
#include "runtime/platform/platform.h"

namespace rushlight::platform {

__attribute__((weak)) void abort() {
  for (;;) __builtin_trap();
}

__attribute__((weak)) void emit_log(LogLevel, const char*, int, const char*) {}

}  // namespace rushlight::platform
"""

OWN_FILES = {
    "rushlight/settings.h": _SETTINGS,
    "rushlight/source.h": _SOURCE,
    "rushlight/exact.h": _EXACT,
    "rushlight/platform.cpp": _PLATFORM,
}
"""The files by their paths under the include root."""


def with_prelude(text: str, path: str, *, is_public: bool, is_exact: bool, condition: str = "") -> str:
    """The text of a file, with the settings included before all other headers if it is a source or the public
    header. With a `condition` the rest of a source is compiled only where it holds."""
    if path.endswith(".cpp"):
        headers = ["rushlight/source.h", *(["rushlight/exact.h"] if is_exact else [])]
        head, rest = text.split("\n", 1)
        if condition:
            rest = f"#if {condition}\n{rest.rstrip()}\n#endif\n"
    elif is_public:
        headers = ["rushlight/settings.h"]
        head, rest = text.split("#pragma once\n", 1)
        head += "#pragma once\n"
    else:
        return text
    return head + "\n" + "".join(f'#include "{name}"\n' for name in headers) + rest

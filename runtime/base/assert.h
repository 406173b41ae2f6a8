// SPDX-License-Identifier: BSD-3-Clause
// Debug assertions on what callers promise. What a model file or its inputs say is never asserted:
// it is checked, and refused with an Error.
#pragma once

namespace rushlight::platform {
[[noreturn]] void abort();  // defined by the platform layer
}

#ifdef NDEBUG
#define RL_DCHECK(condition) static_cast<void>(sizeof(condition))
#else
#define RL_DCHECK(condition) ((condition) ? static_cast<void>(0) : ::rushlight::platform::abort())
#endif

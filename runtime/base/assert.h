// SPDX-License-Identifier: BSD-3-Clause
// Debug assertions on preconditions that callers promise. Contents of a model file or of its inputs are never
// asserted: they are checked at run time and refused with an Error.
#pragma once

namespace rushlight::platform {
[[noreturn]] void abort();  // defined by the platform layer
}

// Aborts in debug builds if `condition` is false. With NDEBUG the condition is compiled but not evaluated.
#ifdef NDEBUG
#define RL_DCHECK(condition) static_cast<void>(sizeof(condition))
#else
#define RL_DCHECK(condition) ((condition) ? static_cast<void>(0) : ::rushlight::platform::abort())
#endif

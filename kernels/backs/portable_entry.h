// SPDX-License-Identifier: BSD-3-Clause
// Tests list each operator a second time as portable/<operator>, to call it without its back. The generated
// dispatch of a front calls is_portable_entry() first, in builds that keep portable code behind backs.
#pragma once

#include <cstddef>

#include "runtime/kernel/context.h"
#include "runtime/kernel/operator_table.h"

namespace rushlight::kernels {

// Has to equal PORTABLE_PREFIX in python/rushlight/codegen/emit.py.
inline constexpr char kPortablePrefix[] = "portable/";

// True if the call came through the second entry. False for a call without a kernel in its context.
[[nodiscard]] inline bool is_portable_entry(const KernelContext& context) {
  // No operator's name contains a slash, so two characters decide.
  constexpr size_t kSlash = sizeof kPortablePrefix - 2;
  return context.kernel() != nullptr && context.kernel()->name[0] == kPortablePrefix[0] &&
         context.kernel()->name[kSlash] == kPortablePrefix[kSlash];
}

}  // namespace rushlight::kernels

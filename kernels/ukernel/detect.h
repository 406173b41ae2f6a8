// SPDX-License-Identifier: BSD-3-Clause
// How a variant is chosen among those that a machine runs.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/ukernel/variant_detection.h"

namespace rushlight::ukernel {

inline constexpr size_t kVariants = sizeof(kVariantNames) / sizeof(*kVariantNames);

// The last variant whose bit is set in `runnable`, of which bit 0, native, always is; or, of these, the one
// whose name is `asked`. Null, or another name: the last.
[[nodiscard]] inline Variant choose_variant(uint32_t runnable, const char* asked) {
  size_t best = 0;
  for (size_t i = 0; i < kVariants; ++i) {
    if ((runnable >> i & 1) == 0) continue;
    best = i;
    if (asked != nullptr && std::strcmp(asked, kVariantNames[i]) == 0) break;
  }
  return static_cast<Variant>(best);
}

}  // namespace rushlight::ukernel

// SPDX-License-Identifier: BSD-3-Clause
// Chooses a variant from a bit mask of the variants that the processor supports. The generated
// variant_detection.h defines runnable_variants(), which computes the mask from a Cpu (x86/cpu.h, arm/cpu.h):
// a variant counts only if the one that it extends does. For variant(), the tests and what reports the build:
// kernels call through variants.h.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/ukernel/variant_detection.h"

namespace rushlight::ukernel {

inline constexpr size_t kVariants = sizeof(kVariantNames) / sizeof(*kVariantNames);

// Returns the variant `asked`, if its bit is set in `runnable`, or else the highest set bit: later variants
// are better. Bit 0, native, is always set. `asked` may be null or an unknown name. An unsupported variant is
// not an error: a test run on an old machine takes the best variant that it has.
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

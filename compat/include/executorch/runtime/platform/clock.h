// SPDX-License-Identifier: BSD-3-Clause
// Conversion of the platform's ticks to time.
//
//   const et_timestamp_t start = pal_current_ticks();
//   work();
//   const uint64_t ns = ticks_to_ns(pal_current_ticks() - start);
#pragma once

#include <executorch/runtime/platform/platform.h>

namespace executorch::runtime {

// Converts a number of pal_current_ticks()'s ticks to nanoseconds, rounded down, by the ratio of
// pal_ticks_to_ns_multiplier(): also one that register_pal() installed, which ExecuTorch does not use here.
// The product with the ratio's numerator wraps at 2^64, so pass differences of timestamps where the numerator
// is large. With the default platform the ratio is 1/1 and a tick is a nanosecond.
inline uint64_t ticks_to_ns(et_timestamp_t ticks) {
  const et_tick_ratio_t ratio = pal_ticks_to_ns_multiplier();
  return static_cast<uint64_t>(ticks) * ratio.numerator / ratio.denominator;
}

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::ticks_to_ns;
}

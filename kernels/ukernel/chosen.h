// SPDX-License-Identifier: BSD-3-Clause
// A variant that is chosen when it is asked for first.
#pragma once

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

template <Variant choose()>
[[nodiscard]] inline Variant chosen_once() {
  // 0 until known. Threads that come first at once find the same.
  static int known = 0;
  int found = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (found == 0) {
    found = static_cast<int>(choose()) + 1;
    __atomic_store_n(&known, found, __ATOMIC_RELAXED);
  }
  return static_cast<Variant>(found - 1);
}

}  // namespace rushlight::ukernel

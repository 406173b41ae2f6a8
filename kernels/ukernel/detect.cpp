// SPDX-License-Identifier: BSD-3-Clause
// Defines variant() for builds with variants that are chosen at run time.
#include "kernels/ukernel/detect.h"

#include <cstdlib>

namespace rushlight::ukernel {

Variant variant() {
  // 0 until chosen. Threads that call variant() at the same time first choose the same variant.
  static int known = 0;
  int found = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (found == 0) {
    found = static_cast<int>(choose_variant(runnable_variants(Cpu{}), std::getenv("RUSHLIGHT_CPU"))) + 1;
    __atomic_store_n(&known, found, __ATOMIC_RELAXED);
  }
  return static_cast<Variant>(found - 1);
}

}  // namespace rushlight::ukernel

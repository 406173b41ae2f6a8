// SPDX-License-Identifier: BSD-3-Clause
// A scalar loop; x86 has vectors.
#include "kernels/ukernel/lookup.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

void look_up_bytes(const uint8_t* table, size_t count, const uint8_t* from, uint8_t* to) {
  for (size_t i = 0; i < count; ++i) to[i] = table[from[i]];
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

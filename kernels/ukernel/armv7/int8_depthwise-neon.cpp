// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/ukernel/arm/int8_depthwise_neon.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

void depthwise_int8(const Int8Depthwise& strip) {
  filter_all(strip,
             [](const Int8Depthwise& all, const BlockQuantizer& q, size_t c) { filter(all, q, c, Whole{}); });
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M0: two features, whose sums, factors and addresses fit in the low registers.
#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kFeatures = 2;

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/block_small_bytes.inl"

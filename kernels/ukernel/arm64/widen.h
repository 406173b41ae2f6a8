// SPDX-License-Identifier: BSD-3-Clause
// A part of generic/widen.h, which defines the other conversions.
#pragma once

#include "kernels/ukernel/arm64/halves.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

RL_INLINE F32 load_widened_half(const uint16_t* from) { return load_halves(from); }

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

// SPDX-License-Identifier: BSD-3-Clause
// Any function of one byte, by table: to[i] = table[from[i]] for i < count. `to` may be `from`; otherwise it
// overlaps no operand. No alignment.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// `table` has 256 bytes.
RL_UKERNEL_EXACT(void, look_up_bytes, (const uint8_t* table, size_t count, const uint8_t* from, uint8_t* to),
                 (table, count, from, to))

}  // namespace rushlight::ukernel

// SPDX-License-Identifier: BSD-3-Clause
// Any function of one byte, by table: to[i] = table[from[i]] for i < count. `to` may be `from`; otherwise it
// overlaps no operand. No alignment. Activations of quantized values are such tables of 256 results.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// `table` has 256 bytes and is indexed by the byte as unsigned: the result for an int8 is at the index of its
// bit pattern. One load an element in the generic loop; on x86, PSHUFB over 16 parts of the table.
RL_UKERNEL_EXACT(void, look_up_bytes, (const uint8_t* table, size_t count, const uint8_t* from, uint8_t* to),
                 (table, count, from, to))

}  // namespace rushlight::ukernel

// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/lookup.h, for tests: the definition, byte by byte. Vectors replace it by
// shuffles of 16-byte parts of the table.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rushlight::ukernel::reference {

inline void look_up_bytes(const uint8_t* table, size_t count, const uint8_t* from, uint8_t* to) {
  for (size_t i = 0; i < count; ++i) to[i] = table[from[i]];
}

}  // namespace rushlight::ukernel::reference

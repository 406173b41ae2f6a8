// SPDX-License-Identifier: BSD-3-Clause
// The header of a .ptd file, which follows the root offset and identifier.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/result.h>

namespace executorch::extension {

struct FlatTensorHeader {
  static constexpr size_t kNumHeadBytes = 64;
  static constexpr size_t kHeaderOffset = 8;
  static constexpr size_t kMagicSize = 4;
  static constexpr char kMagic[kMagicSize] = {'F', 'H', '0', '1'};
  // Magic, length, and four 64-bit integers.
  static constexpr uint32_t kHeaderExpectedLength = 4 + 4 + 8 + 8 + 8 + 8;

  // Errors: InvalidArgument (fewer than kNumHeadBytes), NotFound (no magic), InvalidExternalData (length).
  static runtime::Result<FlatTensorHeader> Parse(const void* data, size_t size);

  uint64_t flatbuffer_offset;
  uint64_t flatbuffer_size;
  uint64_t segment_base_offset;
  uint64_t segment_data_size;
};

}  // namespace executorch::extension

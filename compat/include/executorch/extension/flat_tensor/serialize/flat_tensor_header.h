// SPDX-License-Identifier: BSD-3-Clause
// The header of a .ptd file, which follows the root offset and identifier. All integers are little-endian:
//
//   offset 8: "FH01" | u32 length | u64 flatbuffer offset | u64 flatbuffer size | u64 segment base | u64 size
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/result.h>

namespace executorch::extension {

struct FlatTensorHeader {
  // Bytes to read from the start of a file for Parse(), and where the header begins in them.
  static constexpr size_t kNumHeadBytes = 64;
  static constexpr size_t kHeaderOffset = 8;
  static constexpr size_t kMagicSize = 4;
  static constexpr char kMagic[kMagicSize] = {'F', 'H', '0', '1'};
  // Magic, length, and four 64-bit integers.
  static constexpr uint32_t kHeaderExpectedLength = 4 + 4 + 8 + 8 + 8 + 8;

  // Reads the header from the first `size` bytes of a file, at any address. The fields are not
  // compared with the file's size. Errors: InvalidArgument (fewer than kNumHeadBytes), NotFound (no magic),
  // InvalidExternalData (length).
  static runtime::Result<FlatTensorHeader> Parse(const void* data, size_t size);

  // The directory, and the segments with the data: positions and sizes in bytes, from the start of the file.
  uint64_t flatbuffer_offset;
  uint64_t flatbuffer_size;
  uint64_t segment_base_offset;
  uint64_t segment_data_size;
};

}  // namespace executorch::extension

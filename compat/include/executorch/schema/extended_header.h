// SPDX-License-Identifier: BSD-3-Clause
// The extended header of a .pte file, which follows the root offset and identifier: the positions of its
// parts. All integers are little-endian:
//
//   offset 8: "eh00" | u32 length | u64 program size | u64 segment base | u64 segment data size
//
// `length` counts these fields from the magic on: 24 bytes without the last one, 32 with it.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/result.h>

namespace executorch::runtime {

struct ExtendedHeader {
  static constexpr size_t kNumHeadBytes = 64;
  static constexpr size_t kHeaderOffset = 8;
  static constexpr size_t kMagicSize = 4;
  static constexpr char kMagic[kMagicSize] = {'e', 'h', '0', '0'};

  // Reads the header from the first `size` bytes of a file, at any address. The fields are not
  // compared with the file's size; Program::load() does so. Errors: InvalidArgument (fewer than
  // kNumHeadBytes), NotFound (no magic), InvalidProgram (length).
  static Result<ExtendedHeader> Parse(const void* data, size_t size);

  uint64_t program_size;         // size of the flatbuffer, from the start of the file
  uint64_t segment_base_offset;  // 0 without segments
  uint64_t segment_data_size;    // 0 in files of older exporters, which do not store it
};

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::ExtendedHeader;
}

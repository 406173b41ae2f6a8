// SPDX-License-Identifier: BSD-3-Clause
// The head of a .pte file, behind the file's root offset and identifier: where its parts lie.
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

  // Errors: InvalidArgument (fewer than kNumHeadBytes), NotFound (no magic), InvalidProgram (its length).
  static Result<ExtendedHeader> Parse(const void* data, size_t size);

  uint64_t program_size;         // of the flatbuffer, from the file's begin
  uint64_t segment_base_offset;  // 0 without segments
  uint64_t segment_data_size;    // 0 in files of older exporters, which do not say it
};

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::ExtendedHeader;
}

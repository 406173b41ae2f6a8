// SPDX-License-Identifier: BSD-3-Clause
// The interface to sources of program data; applications may implement it.
#pragma once

#include <cstddef>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::runtime {

class DataLoader {
 public:
  // The purpose of the bytes; a loader may treat kinds differently.
  struct SegmentInfo {
    enum class Type { Program, Constant, Backend, Mutable, External };

    SegmentInfo() = default;
    explicit SegmentInfo(Type segment_type_, size_t segment_index_ = 0, const char* descriptor_ = nullptr)
        : segment_type(segment_type_), segment_index(segment_index_), descriptor(descriptor_) {}

    Type segment_type;
    size_t segment_index;
    const char* descriptor;
  };

  virtual ~DataLoader() = default;

  ET_NODISCARD virtual Result<FreeableBuffer> load(size_t offset, size_t size,
                                                   const SegmentInfo& segment_info) const = 0;
  ET_NODISCARD virtual Error load_into(size_t, size_t, const SegmentInfo&, void*) const {
    ET_LOG(Error, "data loader: load_into() is not implemented");
    return Error::NotImplemented;
  }
  ET_NODISCARD virtual Result<size_t> size() const = 0;
};

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::DataLoader;
}

// SPDX-License-Identifier: BSD-3-Clause
// The interface to sources of program data; applications may implement it, for a file system, flash or a
// network. Implementations for hosts are in extension/data_loader.
//
//   class FlashLoader final : public DataLoader {
//    public:
//     Result<FreeableBuffer> load(size_t offset, size_t size, const SegmentInfo&) const override {
//       if (offset > kSize || size > kSize - offset) return Error::InvalidArgument;
//       return FreeableBuffer(kFlash + offset, size, nullptr);    // nothing to free
//     }
//     Result<size_t> size() const override { return kSize; }
//   };
#pragma once

#include <cstddef>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::runtime {

// Bytes at offsets from 0 to size(). A loader must outlive every program, method and data map that reads from
// it. All functions are const and must be thread-safe if methods are loaded on several threads.
class DataLoader {
 public:
  // The purpose of the bytes; a loader may treat kinds differently, for example lock weights in memory. The
  // default constructor leaves the members undefined.
  struct SegmentInfo {
    // The tables of the program file; a constant, or the program's named data; the payload of a delegate; the
    // initial state of a mutable tensor; data of another file.
    enum class Type { Program, Constant, Backend, Mutable, External };

    SegmentInfo() = default;
    explicit SegmentInfo(Type segment_type_, size_t segment_index_ = 0, const char* descriptor_ = nullptr)
        : segment_type(segment_type_), segment_index(segment_index_), descriptor(descriptor_) {}

    Type segment_type;
    // The index in the program's list of segments; 0 for other bytes.
    size_t segment_index;
    // For a delegate's payload the name of its backend, otherwise null. Valid during the call only.
    const char* descriptor;
  };

  virtual ~DataLoader() = default;

  // Returns bytes [offset, offset + size). They must stay valid until the buffer is freed, also if the loader
  // reads others in between. rushlight uses a program's bytes in place if the address is a multiple of 16,
  // copies them if it is only a multiple of 4, and refuses others. The buffer must hold memory, not an
  // integer. Errors by convention: InvalidArgument (outside of the data), AccessFailed,
  // MemoryAllocationFailed.
  ET_NODISCARD virtual Result<FreeableBuffer> load(size_t offset, size_t size,
                                                   const SegmentInfo& segment_info) const = 0;
  // Copies the bytes to `buffer`, which has `size` bytes. Optional: rushlight does not call it, as it copies
  // from load(). Error of the default: NotImplemented.
  ET_NODISCARD virtual Error load_into(size_t, size_t, const SegmentInfo&, void*) const {
    ET_LOG(Error, "data loader: load_into() is not implemented");
    return Error::NotImplemented;
  }
  // The number of bytes. An error fails Program::load() with that error.
  ET_NODISCARD virtual Result<size_t> size() const = 0;
};

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::DataLoader;
}

// SPDX-License-Identifier: BSD-3-Clause
// Serves a program in memory that a shared pointer owns, which lives at least as long as the loader. Nothing
// is copied; the alignment is as for BufferDataLoader. load_into() is not supported: it returns
// NotImplemented.
#pragma once

#include <memory>

#include <c10/util/safe_numerics.h>
#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension {

// Copyable: copies share the memory. Thread-safe.
class SharedPtrDataLoader final : public executorch::runtime::DataLoader {
 public:
  // The memory has `size` bytes; its deleter runs when the last pointer is destroyed.
  SharedPtrDataLoader(std::shared_ptr<void> data, size_t size) : size_(size), memory_(std::move(data)) {}

  // Returns a pointer into the memory. The buffer does not keep the memory alive: it must not outlive the
  // last loader or pointer. Error: InvalidArgument (out of range).
  ET_NODISCARD executorch::runtime::Result<executorch::runtime::FreeableBuffer> load(
      size_t offset, size_t size, ET_UNUSED const DataLoader::SegmentInfo& segment_info) const override {
    size_t end = 0;
    ET_CHECK_OR_RETURN_ERROR(!c10::add_overflows(offset, size, &end) && end <= size_, InvalidArgument,
                             "data: %zu bytes at offset %zu exceed its %zu bytes", size, offset, size_);
    const char* begin = static_cast<const char*>(memory_.get()) + offset;
    return executorch::runtime::FreeableBuffer(begin, size, nullptr);
  }
  ET_NODISCARD executorch::runtime::Result<size_t> size() const override { return size_; }

 private:
  size_t size_;
  std::shared_ptr<void> memory_;
};

}  // namespace executorch::extension

namespace torch::executor::util {
using ::executorch::extension::SharedPtrDataLoader;
}

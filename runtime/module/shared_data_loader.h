// SPDX-License-Identifier: BSD-3-Clause
// A data loader over shared memory, which lives at least as long as the loader.
#pragma once

#include <memory>

#include "runtime/program/data_loader.h"

namespace rushlight {

// Returns pointers into the memory; copies nothing.
class SharedDataLoader final : public DataLoader {
 public:
  // `data` must be aligned to 16 bytes; `size` is in bytes.
  SharedDataLoader(std::shared_ptr<const void> data, size_t size)
      : data_(std::move(data)), buffer_(data_.get(), size) {}

  // Errors: InvalidArgument (outside of the data).
  [[nodiscard]] Result<FreeableBuffer> load(size_t offset, size_t size) override {
    return buffer_.load(offset, size);
  }
  [[nodiscard]] size_t size() const override { return buffer_.size(); }

 private:
  std::shared_ptr<const void> data_;
  BufferDataLoader buffer_;
};

}  // namespace rushlight

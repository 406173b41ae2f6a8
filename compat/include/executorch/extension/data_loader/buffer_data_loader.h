// SPDX-License-Identifier: BSD-3-Clause
// Serves a program in memory, which must outlive the loader and the buffers that it returns. Nothing is
// copied if the memory is aligned to 16 bytes. Program::load() copies parts that are aligned to 4 only, and
// refuses others.
//
//   alignas(16) const uint8_t model[] = {...};
//   BufferDataLoader loader(model, sizeof model);
//   auto program = Program::load(&loader);
#pragma once

#include <cstring>

#include <c10/util/safe_numerics.h>
#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension {

// Copyable, which copies the pointer. Thread-safe.
class BufferDataLoader final : public executorch::runtime::DataLoader {
 public:
  // `data` may be null if `size` is 0.
  BufferDataLoader(const void* data, size_t size) : data_(static_cast<const uint8_t*>(data)), size_(size) {}

  // Returns a pointer into the memory; freeing it does nothing. Error: InvalidArgument (out of range).
  ET_NODISCARD executorch::runtime::Result<executorch::runtime::FreeableBuffer> load(
      size_t offset, size_t size, ET_UNUSED const DataLoader::SegmentInfo& segment_info) const override {
    size_t end = 0;
    ET_CHECK_OR_RETURN_ERROR(!c10::add_overflows(offset, size, &end) && end <= size_, InvalidArgument,
                             "data: %zu bytes at offset %zu exceed its %zu bytes", size, offset, size_);
    return executorch::runtime::FreeableBuffer(data_ + offset, size, nullptr);
  }
  // Copies to memory of the caller. Error: InvalidArgument (null buffer, out of range).
  ET_NODISCARD executorch::runtime::Error load_into(size_t offset, size_t size,
                                                    const SegmentInfo& segment_info,
                                                    void* buffer) const override {
    ET_CHECK_OR_RETURN_ERROR(buffer != nullptr, InvalidArgument, "the buffer is null");
    auto loaded = load(offset, size, segment_info);
    if (!loaded.ok()) return loaded.error();
    std::memcpy(buffer, loaded->data(), size);
    return executorch::runtime::Error::Ok;
  }
  ET_NODISCARD executorch::runtime::Result<size_t> size() const override { return size_; }

 private:
  const uint8_t* const data_;
  const size_t size_;
};

}  // namespace executorch::extension

namespace torch::executor::util {
using ::executorch::extension::BufferDataLoader;
}

// SPDX-License-Identifier: BSD-3-Clause
// Sources of program data: the DataLoader interface, the buffers that it returns, and a loader for memory.
//
//   alignas(16) static const uint8_t file[] = {...};
//   BufferDataLoader loader(file, sizeof file);
//   auto program = Program::load(loader);
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/base/checked.h"
#include "runtime/base/error.h"
#include "runtime/base/log.h"
#include "runtime/base/result.h"
#include "runtime/base/span.h"

namespace rushlight {

// Bytes with an optional function that releases them. Movable, not copyable; releases once.
class FreeableBuffer {
 public:
  // Called with the context of the constructor and the buffer's data and size.
  using FreeFunction = void (*)(void* context, void* data, size_t size);

  // An empty buffer.
  FreeableBuffer() = default;
  // Takes the memory over if there is a function, otherwise refers to it: the memory must then outlive the
  // buffer.
  FreeableBuffer(const void* data, size_t size, FreeFunction free_function = nullptr, void* context = nullptr)
      : data_(data), size_(size), free_function_(free_function), context_(context) {}
  FreeableBuffer(FreeableBuffer&& other) noexcept { *this = std::move(other); }
  FreeableBuffer& operator=(FreeableBuffer&& other) noexcept {
    if (this == &other) return *this;
    free();
    data_ = other.data_;
    size_ = other.size_;
    free_function_ = other.free_function_;
    context_ = other.context_;
    other.data_ = nullptr;
    other.size_ = 0;
    other.free_function_ = nullptr;
    return *this;
  }
  FreeableBuffer(const FreeableBuffer&) = delete;
  FreeableBuffer& operator=(const FreeableBuffer&) = delete;
  ~FreeableBuffer() { free(); }

  // Returns true if the memory is released with this object.
  [[nodiscard]] bool owns() const { return free_function_ != nullptr; }

  // Releases the memory now. The buffer is then empty.
  void free() {
    if (free_function_ != nullptr) free_function_(context_, const_cast<void*>(data_), size_);
    data_ = nullptr;
    size_ = 0;
    free_function_ = nullptr;
  }

  // The bytes; null and 0 after free().
  [[nodiscard]] const void* data() const { return data_; }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] Span<const uint8_t> bytes() const { return {static_cast<const uint8_t*>(data_), size_}; }

 private:
  const void* data_ = nullptr;
  size_t size_ = 0;
  FreeFunction free_function_ = nullptr;
  void* context_ = nullptr;
};

// The interface. A loader must outlive every program loaded through it. load() returns memory aligned to 16
// bytes if `offset` is a multiple of 16, provided that the file is mapped or stored at a 16-byte boundary.
class DataLoader {
 public:
  // Returns bytes [offset, offset + size) of the data. Errors: InvalidArgument (outside of the data),
  // AccessFailed (cannot be read).
  [[nodiscard]] virtual Result<FreeableBuffer> load(size_t offset, size_t size) {
    static_cast<void>(offset);
    static_cast<void>(size);
    return Error::NotImplemented;
  }
  // Bytes of the data.
  [[nodiscard]] virtual size_t size() const { return 0; }

 protected:
  // Not deleted through the base class: the runtime owns no loader.
  ~DataLoader() = default;
};

// Serves a program in memory (flash, an array, a mapped file) without copying.
class BufferDataLoader final : public DataLoader {
 public:
  // `data` must be aligned to 16 bytes and outlive the loader.
  BufferDataLoader(const void* data, size_t size) : data_(static_cast<const uint8_t*>(data)), size_(size) {}

  [[nodiscard]] Result<FreeableBuffer> load(size_t offset, size_t size) override {
    RL_CHECK(range_fits(offset, size, size_), Error::InvalidArgument, "data: bytes %lu to %lu of %lu",
             static_cast<unsigned long>(offset), static_cast<unsigned long>(offset + size),
             static_cast<unsigned long>(size_));
    return FreeableBuffer(data_ + offset, size);
  }
  [[nodiscard]] size_t size() const override { return size_; }

 private:
  const uint8_t* data_;
  size_t size_;
};

}  // namespace rushlight

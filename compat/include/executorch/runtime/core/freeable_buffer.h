// SPDX-License-Identifier: BSD-3-Clause
// Bytes that are released once: memory, or an object that an integer identifies, such as a handle of the
// system. Data loaders and data maps return them.
//
//   FreeableBuffer buffer(std::malloc(size), size, [](void*, void* data, size_t) { std::free(data); });
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/assert.h>

#include "runtime/program/data_loader.h"

namespace executorch::runtime {

// Owns its bytes. Movable once constructed, but not assignable; a moved-from buffer is empty.
class FreeableBuffer final {
 public:
  // Releases the bytes; receives the context, the data and the size that the constructor received.
  using FreeFn = void (*)(void* context, void* data, size_t size);
  using FreeUInt64Fn = void (*)(void* context, uint64_t data_uint64, size_t size);

  // An empty buffer, of memory.
  FreeableBuffer() = default;
  // Takes over `size` bytes at `data`, which `free_fn` releases. Null means that the buffer only refers to
  // them, and they must outlive it. The context is not owned.
  FreeableBuffer(const void* data, size_t size, FreeFn free_fn, void* free_fn_context = nullptr)
      : data_(data), size_(size), free_(free_fn), context_(free_fn_context) {}
  // The same for an object that is not memory. 0 identifies none: nothing is released for it.
  explicit FreeableBuffer(const uint64_t data_uint64, size_t size, FreeUInt64Fn free_fn,
                          void* free_fn_context = nullptr)
      : number_(data_uint64),
        size_(size),
        free_number_(free_fn),
        context_(free_fn_context),
        is_number_(true) {}
  // Transfers the ownership. The other becomes empty, but keeps its kind.
  FreeableBuffer(FreeableBuffer&& other) noexcept
      : data_(other.data_),
        number_(other.number_),
        size_(other.size_),
        free_(other.free_),
        free_number_(other.free_number_),
        context_(other.context_),
        is_number_(other.is_number_) {
    other.forget();
  }
  FreeableBuffer(const FreeableBuffer&) = delete;
  FreeableBuffer& operator=(const FreeableBuffer&) = delete;
  FreeableBuffer& operator=(FreeableBuffer&&) = delete;
  // Releases the bytes, unless Free() or release() was called.
  ~FreeableBuffer() { Free(); }

  // Releases the bytes now, on the calling thread. The buffer is then empty, of the same kind; a second call
  // does nothing.
  void Free() {
    if (data_ != nullptr && free_ != nullptr) free_(context_, const_cast<void*>(data_), size_);
    if (number_ != 0 && free_number_ != nullptr) free_number_(context_, number_, size_);
    forget();
  }

  // In bytes; 0 after Free().
  size_t size() const { return size_; }

  // The memory; null after Free(). Aborts if the buffer holds an integer.
  const void* data() const {
    ET_CHECK_MSG(!is_number_, "buffer holds an integer: call data_uint64_type()");
    return data_;
  }
  // The memory or the integer. Error: InvalidType (the buffer holds the other).
  Result<const void*> data_safe() const {
    ET_CHECK_OR_RETURN_ERROR(!is_number_, InvalidType, "buffer holds an integer: call data_uint64_type()");
    return data_;
  }
  // The integer, for callers that know the loader.
  Result<uint64_t> data_uint64_type() const {
    ET_CHECK_OR_RETURN_ERROR(is_number_, InvalidType, "buffer holds memory: call data()");
    return number_;
  }

  // Transfers the bytes to a rushlight buffer, which then releases them; this one becomes empty. Aborts if
  // the buffer holds an integer. Not part of the official API.
  rushlight::FreeableBuffer release() {
    rushlight::FreeableBuffer buffer(data(), size_, free_, context_);
    forget();
    return buffer;
  }

 private:
  // Empties the buffer without releasing anything.
  void forget() {
    data_ = nullptr;
    number_ = 0;
    size_ = 0;
    free_ = nullptr;
    free_number_ = nullptr;
  }

  const void* data_ = nullptr;
  uint64_t number_ = 0;
  size_t size_ = 0;
  FreeFn free_ = nullptr;
  FreeUInt64Fn free_number_ = nullptr;
  void* context_ = nullptr;
  bool is_number_ = false;
};

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::FreeableBuffer;
}

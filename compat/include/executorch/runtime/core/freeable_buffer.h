// SPDX-License-Identifier: BSD-3-Clause
// Bytes that are released once: memory, or an object that an integer identifies.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/assert.h>

#include "runtime/program/data_loader.h"

namespace executorch::runtime {

class FreeableBuffer final {
 public:
  using FreeFn = void (*)(void* context, void* data, size_t size);
  using FreeUInt64Fn = void (*)(void* context, uint64_t data_uint64, size_t size);

  FreeableBuffer() = default;
  FreeableBuffer(const void* data, size_t size, FreeFn free_fn, void* free_fn_context = nullptr)
      : data_(data), size_(size), free_(free_fn), context_(free_fn_context) {}
  explicit FreeableBuffer(const uint64_t data_uint64, size_t size, FreeUInt64Fn free_fn,
                          void* free_fn_context = nullptr)
      : number_(data_uint64),
        size_(size),
        free_number_(free_fn),
        context_(free_fn_context),
        is_number_(true) {}
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
  ~FreeableBuffer() { Free(); }

  void Free() {
    if (data_ != nullptr && free_ != nullptr) free_(context_, const_cast<void*>(data_), size_);
    if (number_ != 0 && free_number_ != nullptr) free_number_(context_, number_, size_);
    forget();
  }

  size_t size() const { return size_; }

  // The memory; aborts if the buffer holds an integer.
  const void* data() const {
    ET_CHECK_MSG(!is_number_, "buffer holds an integer: call data_uint64_type()");
    return data_;
  }
  Result<const void*> data_safe() const {
    ET_CHECK_OR_RETURN_ERROR(!is_number_, InvalidType, "buffer holds an integer: call data_uint64_type()");
    return data_;
  }
  Result<uint64_t> data_uint64_type() const {
    ET_CHECK_OR_RETURN_ERROR(is_number_, InvalidType, "buffer holds memory: call data()");
    return number_;
  }

  // Transfers the bytes to a rushlight buffer, which then releases them.
  rushlight::FreeableBuffer release() {
    rushlight::FreeableBuffer buffer(data(), size_, free_, context_);
    forget();
    return buffer;
  }

 private:
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

// SPDX-License-Identifier: BSD-3-Clause
// rushlight::Span with the official constructors.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/platform/assert.h>

#include "runtime/base/span.h"

namespace executorch::runtime {

template <class T>
class Span final {
 public:
  using value_type = T;
  using iterator = T*;
  using size_type = size_t;

  constexpr Span() noexcept = default;
  Span(T* data, size_t length) : data_(data), size_(length) { ET_DCHECK(data != nullptr || length == 0); }
  Span(T* begin, T* end) : data_(begin), size_(static_cast<size_t>(end - begin)) {}
  template <size_t N>
  constexpr Span(T (&array)[N]) : data_(array), size_(N) {}
  constexpr Span(T& element) : data_(&element), size_(1) {}
  constexpr Span(rushlight::Span<T> span) : data_(span.data()), size_(span.size()) {}

  constexpr operator rushlight::Span<T>() const { return {data_, size_}; }

  iterator begin() const noexcept { return data_; }
  iterator end() const noexcept { return data_ + size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T* data() const noexcept { return data_; }
  constexpr size_t size() const noexcept { return size_; }
  T& operator[](size_t index) const { return data_[index]; }

 private:
  T* data_ = nullptr;
  size_type size_ = 0;
};

static_assert(sizeof(Span<int>) == sizeof(rushlight::Span<int>));

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::Span;
}

// SPDX-License-Identifier: BSD-3-Clause
// rushlight::Span with the official constructors: a view of elements that it does not own and may write,
// unless T is const. Two words, passed by value. Not convertible from Span<T> to Span<const T>: write
// {span.data(), span.size()}.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/platform/assert.h>

#include "runtime/base/span.h"

namespace executorch::runtime {

// The elements must outlive the view.
template <class T>
class Span final {
 public:
  using value_type = T;
  using iterator = T*;
  using size_type = size_t;

  // The empty view; data() is null.
  constexpr Span() noexcept = default;
  // `data` may be null for length 0 only; asserted in debug builds.
  Span(T* data, size_t length) : data_(data), size_(length) { ET_DCHECK(data != nullptr || length == 0); }
  // Elements in [begin, end).
  Span(T* begin, T* end) : data_(begin), size_(static_cast<size_t>(end - begin)) {}
  // All elements of an array.
  template <size_t N>
  constexpr Span(T (&array)[N]) : data_(array), size_(N) {}
  // One element.
  constexpr Span(T& element) : data_(&element), size_(1) {}
  // Converts to and from rushlight's view of the same elements.
  constexpr Span(rushlight::Span<T> span) : data_(span.data()), size_(span.size()) {}

  constexpr operator rushlight::Span<T>() const { return {data_, size_}; }

  // For range-based loops.
  iterator begin() const noexcept { return data_; }
  iterator end() const noexcept { return data_ + size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  // May be null if the view is empty.
  constexpr T* data() const noexcept { return data_; }
  constexpr size_t size() const noexcept { return size_; }
  // Precondition: index < size(), not checked. A const Span gives writable elements, too.
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

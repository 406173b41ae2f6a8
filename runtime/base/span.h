// SPDX-License-Identifier: BSD-3-Clause
// A view of contiguous elements: a pointer and a count, like std::span of C++20. It owns nothing.
#pragma once

#include <cstddef>
#include <type_traits>

#include "runtime/base/assert.h"

namespace rushlight {

// A view of `size` elements of T. The elements must outlive it. Converts from an array and from Span<T> to
// Span<const T>.
template <class T>
class Span {
 public:
  // The empty view; data() is null.
  constexpr Span() = default;
  constexpr Span(T* data, size_t size) : data_(data), size_(size) {}
  template <size_t N>
  constexpr Span(T (&array)[N]) : data_(array), size_(N) {}  // NOLINT: implicit by design
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
  constexpr Span(Span<U> other) : data_(other.data()), size_(other.size()) {}  // NOLINT: implicit by design

  // Pointer to the first element; may be null if the view is empty.
  [[nodiscard]] constexpr T* data() const { return data_; }
  [[nodiscard]] constexpr size_t size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  // For range-based loops. Elements of a const Span can be written unless T is const.
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }
  // Precondition: i < size(); asserted in debug builds.
  constexpr T& operator[](size_t i) const {
    RL_DCHECK(i < size_);
    return data_[i];
  }
  // Returns elements [offset, offset + count). Precondition: the range lies inside the span; asserted in
  // debug builds.
  [[nodiscard]] constexpr Span subspan(size_t offset, size_t count) const {
    RL_DCHECK(offset <= size_ && count <= size_ - offset);
    return {data_ + offset, count};
  }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace rushlight

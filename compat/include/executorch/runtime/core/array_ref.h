// SPDX-License-Identifier: BSD-3-Clause
// A view of constant elements that it does not own: rushlight::Span<const T> with the official members. Two
// words, passed by value.
//
//   const int64_t dims[] = {0, 1};
//   torch::executor::aten::sum_outf(context, in, ArrayRef<int64_t>(dims), true, std::nullopt, out);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <c10/util/irange.h>
#include <c10/util/safe_numerics.h>
#include <executorch/runtime/platform/assert.h>

#include "runtime/base/span.h"

namespace executorch::runtime {

// The elements must outlive the view. One that is constructed from a temporary (an element or an array in
// braces) is valid within the full expression only, for example as an argument of a call.
template <class T>
class ArrayRef final {
 public:
  using iterator = const T*;
  using const_iterator = const T*;
  using size_type = size_t;
  using value_type = T;

  // The empty view; data() is null.
  constexpr ArrayRef() = default;
  // One element.
  constexpr ArrayRef(const T& element) : data_(&element), size_(1) {}
  // `data` may be null for length 0 only; asserted in debug builds.
  ArrayRef(const T* data, size_t length) : data_(data), size_(length) {
    ET_DCHECK(data != nullptr || length == 0);
  }
  // Elements in [begin, end).
  ArrayRef(const T* begin, const T* end) : data_(begin), size_(static_cast<size_t>(end - begin)) {}
  // All elements of an array.
  template <size_t N>
  constexpr ArrayRef(const std::array<T, N>& array) : data_(array.data()), size_(N) {}
  template <size_t N>
  constexpr ArrayRef(const T (&array)[N]) : data_(array), size_(N) {}
  // Converts to and from rushlight's view of the same elements.
  constexpr ArrayRef(rushlight::Span<const T> span) : data_(span.data()), size_(span.size()) {}

  constexpr operator rushlight::Span<const T>() const { return {data_, size_}; }

  // For range-based loops. The elements are constant.
  constexpr iterator begin() const { return data_; }
  constexpr iterator end() const { return data_ + size_; }
  constexpr const_iterator cbegin() const { return data_; }
  constexpr const_iterator cend() const { return data_ + size_; }
  constexpr bool empty() const { return size_ == 0; }
  // May be null if the view is empty.
  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }

  // Precondition: index < size(), not checked, not even in debug builds.
  constexpr const T& operator[](size_t index) const { return data_[index]; }
  // The element, or its first or last; abort if it does not exist.
  const T& at(size_t index) const {
    ET_CHECK(index < size_);
    return data_[index];
  }
  const T& front() const { return at(0); }
  const T& back() const { return at(size_ - 1); }

  // True if the sizes are equal and no pair of elements differs by operator!=; so a NaN makes it false.
  bool equals(ArrayRef other) const {
    if (size_ != other.size_) return false;
    for (size_t i = 0; i < size_; ++i) {
      if (data_[i] != other.data_[i]) return false;
    }
    return true;
  }

  // Returns `count` elements from `start` on, or all that follow. Aborts if they exceed the view; start =
  // size() gives an empty view.
  ArrayRef slice(size_t start, size_t count) const {
    ET_CHECK(start <= size_ && count <= size_ - start);
    return {data_ + start, count};
  }
  constexpr ArrayRef slice(size_t start) const { return slice(start, size_ - start); }

 private:
  const T* data_ = nullptr;
  size_type size_ = 0;
};

// Constructors as functions, which deduce T from their arguments.
template <class T>
ArrayRef<T> makeArrayRef(const T& element) {
  return element;
}
// Elements at an address, with their number.
template <class T>
ArrayRef<T> makeArrayRef(const T* data, size_t length) {
  return {data, length};
}
// Elements between two addresses.
template <class T>
ArrayRef<T> makeArrayRef(const T* begin, const T* end) {
  return {begin, end};
}
// All elements of an array; their number is part of its type.
template <class T, std::size_t N>
ArrayRef<T> makeArrayRef(const std::array<T, N>& array) {
  return array;
}
template <class T, std::size_t N>
ArrayRef<T> makeArrayRef(const T (&array)[N]) {
  return ArrayRef<T>(array);
}
// A view is copied, or returned as it is.
template <class T>
ArrayRef<T> makeArrayRef(const ArrayRef<T>& array) {
  return array;
}
template <class T>
ArrayRef<T>& makeArrayRef(ArrayRef<T>& array) {
  return array;
}

// Compare the elements, as equals().
template <class T>
bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
  return a.equals(b);
}
template <class T>
bool operator!=(ArrayRef<T> a, ArrayRef<T> b) {
  return !a.equals(b);
}

// The type of sizes, strides and dimensions as operator arguments.
using IntArrayRef = ArrayRef<int64_t>;

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::ArrayRef;
using ::executorch::runtime::IntArrayRef;
using ::executorch::runtime::makeArrayRef;
}  // namespace torch::executor

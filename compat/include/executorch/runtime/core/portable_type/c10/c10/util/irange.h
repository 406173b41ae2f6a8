// SPDX-License-Identifier: BSD-3-Clause
// Loops over integers without a counter of the wrong type. The variable has the type of the end, so that it
// compares with it without a sign warning. No cost beside that of a plain loop.
//
//   for (const auto i : c10::irange(n)) ...           // 0, 1, ..., n - 1
//   for (const auto i : c10::irange(first, last)) ... // first, ..., last - 1
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>

#include <c10/util/TypeSafeSignMath.h>

namespace c10 {

namespace detail {

// Refers to one integer. An input iterator: dereferencing gives the value, not a reference to an element.
template <class I>
class integer_iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::input_iterator_tag;
  using value_type = I;
  using reference = value_type&;
  using pointer = value_type*;

  constexpr explicit integer_iterator(value_type at) : at_(at) {}
  constexpr const value_type* operator->() const { return std::addressof(at_); }
  constexpr value_type operator*() const { return at_; }
  constexpr integer_iterator& operator++() { return ++at_, *this; }
  constexpr integer_iterator operator++(int) { return integer_iterator(at_++); }
  friend constexpr bool operator==(const integer_iterator& a, const integer_iterator& b) { return *a == *b; }
  friend constexpr bool operator!=(const integer_iterator& a, const integer_iterator& b) { return !(a == b); }

 private:
  value_type at_;
};

}  // namespace detail

// Empty if the end is below the start, also for a negative end of irange(end).
template <class I>
struct integer_range {
  static_assert(std::is_integral_v<I>);
  using iterator = detail::integer_iterator<I>;

  // Iterators for the range-based for loop; begin() equals end() for an empty range.
  constexpr integer_range(I begin, I end) : begin_(begin), end_(end < begin ? begin : end) {}
  constexpr iterator begin() const { return begin_; }
  constexpr iterator end() const { return end_; }

 private:
  iterator begin_;
  iterator end_;
};

// Integers from `begin` up to `end`, which is excluded. Both must be representable in J: a negative begin
// with an unsigned end would wrap to a large one, and the range be empty.
template <class I, class J, std::enable_if_t<std::is_integral_v<I> && std::is_integral_v<J>, bool> = true>
constexpr integer_range<J> irange(I begin, J end) {
  return {static_cast<J>(begin), end};
}

// Integers from 0 up to `end`.
template <class I, std::enable_if_t<std::is_integral_v<I>, bool> = true>
constexpr integer_range<I> irange(I end) {
  return {I(), end};
}

}  // namespace c10

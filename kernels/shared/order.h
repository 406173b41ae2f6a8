// SPDX-License-Identifier: BSD-3-Clause
// PyTorch's order of elements, in which NaN is the largest number, and sorting by it without memory of
// its own.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/shared/checks.h"
#include "kernels/shared/lane_walk.h"
#include "runtime/base/error.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// What elements of type T are compared as.
template <class T>
using Comparable = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

template <class T>
inline bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return value != value;
  return false;
}

// InvalidType unless `indices`, an output, holds int64.
Error check_indices_dtype(const Tensor& indices);

// Writes the first `values.size` elements of `source`, in ascending or descending order, and their
// positions there. Equal elements stay in their order.
template <class T>
class Ranking {
 public:
  Ranking(const ViewLane& values, const ViewLane& indices, bool descending)
      : values_(values), indices_(indices), descending_(descending) {}

  void rank(const ViewLane& source) {
    const ptrdiff_t count = values_.size;
    if (count == 0) return;
    for (ptrdiff_t i = 0; i < count; ++i) put(i, {source.get<T>(i), i});
    // A heap with the last in order on top, which makes room for whatever comes before it.
    for (ptrdiff_t i = count / 2; i-- > 0;) sift(i, get(i), count);
    for (ptrdiff_t i = count; i < source.size; ++i) {
      const Entry entry{source.get<T>(i), i};
      if (precedes(entry, get(0))) sift(0, entry, count);
    }
    for (ptrdiff_t end = count - 1; end > 0; --end) {
      const Entry entry = get(end);
      put(end, get(0));
      sift(0, entry, end);
    }
  }

 private:
  struct Entry {
    T value;
    int64_t index;
  };

  [[nodiscard]] Entry get(ptrdiff_t i) const { return {values_.get<T>(i), indices_.at<int64_t>(i)}; }
  void put(ptrdiff_t i, const Entry& entry) const {
    values_.at<T>(i) = entry.value;
    indices_.at<int64_t>(i) = entry.index;
  }

  static bool larger(Comparable<T> a, Comparable<T> b) { return a > b || (is_nan(a) && !is_nan(b)); }

  [[nodiscard]] bool precedes(const Entry& a, const Entry& b) const {
    const auto x = static_cast<Comparable<T>>(a.value);
    const auto y = static_cast<Comparable<T>>(b.value);
    if (larger(x, y)) return descending_;
    if (larger(y, x)) return !descending_;
    return a.index < b.index;
  }

  // Puts `entry` into the heap of `size` entries whose place `at` is free.
  void sift(ptrdiff_t at, const Entry& entry, ptrdiff_t size) const {
    while (2 * at + 1 < size) {
      ptrdiff_t child = 2 * at + 1;
      if (child + 1 < size && precedes(get(child), get(child + 1))) ++child;
      const Entry below = get(child);
      if (!precedes(entry, below)) break;
      put(at, below);
      at = child;
    }
    put(at, entry);
  }

  ViewLane values_;
  ViewLane indices_;
  bool descending_;
};

// Ranks every lane of `self` along `dim` and keeps `count` elements of each. `values` and `indices` are
// given the shape of `self` with this size there. Errors: InvalidArgument (shapes), InvalidType.
template <TypeSet kTypes>
Error rank_lanes(const Tensor& self, size_t dim, ptrdiff_t count, bool descending, const Tensor& values,
                 const Tensor& indices) {
  RL_TRY(check_same_dtype(self, values, "self and values"));
  RL_TRY(check_indices_dtype(indices));
  Shape shape;
  for (const SizesType size : self.sizes()) shape.push(shape.dim == dim ? count : ptrdiff_t{size});
  RL_TRY(resize_out(values, shape.span()));
  RL_TRY(resize_out(indices, shape.span()));
  const View views[] = {at_least_1d(self), at_least_1d(values), at_least_1d(indices)};
  return dispatch<kTypes>(self.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    return for_each_lane(views, dim, [descending](const ViewLane* lanes) {
      Ranking<T>(lanes[1], lanes[2], descending).rank(lanes[0]);
      return Error::Ok;
    });
  });
}

}  // namespace rushlight::kernels

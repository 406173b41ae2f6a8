// SPDX-License-Identifier: BSD-3-Clause
// Sums over reduced dimensions: floating numbers pairwise, so that the error grows with the logarithm
// of the count; integers in int64, wrapping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/math/arithmetic.h"
#include "kernels/reduction/reduce.h"

namespace rushlight::kernels {

// The type that a sum of elements of `type` is held in.
constexpr ScalarType accumulated_type(ScalarType type) {
  return is_floating(type) ? computed_type(type) : ScalarType::Long;
}

// Adds a stream of numbers as a balanced tree would, with a partial sum for each level.
template <class T>
class PairwiseSum {
 public:
  void add(T value) {
    block_ += value;
    if (++pending_ == kBlock) carry();
  }

  [[nodiscard]] T total() const {
    T sum = block_;
    for (size_t level = 0, left = blocks_; left != 0; left >>= 1, ++level) {
      if ((left & 1) != 0) sum += partial_[level];
    }
    return sum;
  }

 private:
  static constexpr size_t kBlock = 32;   // added one after the other
  static constexpr size_t kLevels = 27;  // enough for the 2^31 elements of the largest tensor

  // Adding one to a binary counter: equal levels meet and move up.
  void carry() {
    T sum = block_;
    size_t level = 0;
    for (size_t left = blocks_; (left & 1) != 0; left >>= 1) sum += partial_[level++];
    partial_[level] = sum;
    ++blocks_;
    block_ = 0;
    pending_ = 0;
  }

  T block_ = 0;
  size_t pending_ = 0;
  size_t blocks_ = 0;
  T partial_[kLevels];  // those whose bit in blocks_ is set hold a sum
};

// The sum of wrapping integers needs no levels.
template <>
class PairwiseSum<int64_t> {
 public:
  void add(int64_t value) { sum_ = wrapping_add(sum_, value); }
  [[nodiscard]] int64_t total() const { return sum_; }

 private:
  int64_t sum_ = 0;
};

// The types that numbers of a set are summed in, and complex ones by parts.
constexpr TypeSet accumulated_in(TypeSet set) {
  const TypeSet parts = (set & types::kComplex) != 0 ? type_set(ScalarType::Float, ScalarType::Double) : 0;
  const TypeSet floats = computed_in(set & types::kFloating) | parts;
  return (set & ~types::kFloating & ~types::kComplex) != 0 ? floats | type_set(ScalarType::Long) : floats;
}

// Writes sums, or means, to every element of `out`, of complex numbers of each part. Elements are converted
// to the dtype of `out` as they are added; means are not of integers. `types` are those that the operator
// takes. InvalidType when the dtype of `self` or `out` is not selected.
Error sum_into(TypeSet types, const Reduction& reduction, const Tensor& self, const Tensor& out);
Error mean_into(TypeSet types, const Reduction& reduction, const Tensor& self, const Tensor& out);

}  // namespace rushlight::kernels

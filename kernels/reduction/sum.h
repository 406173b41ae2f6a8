// SPDX-License-Identifier: BSD-3-Clause
// Sums over reduced dimensions. Floating sums are pairwise, so the error grows with the logarithm of the
// count; integers wrap in int64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/math/arithmetic.h"
#include "kernels/reduction/reduce.h"
#include "kernels/ukernel/loops.h"

namespace rushlight::kernels {

// The accumulator dtype for elements of `type`: float for 16-bit floats, int64 for integers and bool.
constexpr ScalarType accumulated_type(ScalarType type) {
  return is_floating(type) ? computed_type(type) : ScalarType::Long;
}

// Adds a stream of values as a balanced tree would, with one partial sum for each level. About one addition
// for each value; the error bound grows with log2(n / 32) + 32 instead of n. Reference: Higham, "The Accuracy
// of Floating Point Summation", 1993.
template <class T>
class PairwiseSum {
 public:
  // One addition; every 32 values, on average one more.
  void add(T value) {
    block_ += value;
    if (++pending_ == kBlock) carry();
  }

  // Adds n contiguous values. Whole blocks take eight sums side by side, which compilers vectorize.
  void add(const T* values, size_t n) {
    size_t i = 0;
    while (i < n && pending_ != 0) add(values[i++]);
    for (; n - i >= kBlock; i += kBlock) {
      constexpr size_t kSums = 8;
      T sums[kSums];
      for (size_t k = 0; k < kSums; ++k) sums[k] = values[i + k];
      for (size_t j = kSums; j < kBlock; j += kSums) {
        for (size_t k = 0; k < kSums; ++k) sums[k] += values[i + j + k];
      }
      for (size_t half = kSums / 2; half > 0; half /= 2) {
        for (size_t k = 0; k < half; ++k) sums[k] += sums[k + half];
      }
      block_ = sums[0];
      carry();
    }
    while (i < n) add(values[i++]);
  }

  // Adds the levels from the smallest sum up; add() may continue after it.
  [[nodiscard]] T total() const {
    T sum = block_;
    for (size_t level = 0, left = blocks_; left != 0; left >>= 1, ++level) {
      if ((left & 1) != 0) sum += partial_[level];
    }
    return sum;
  }

 private:
  static constexpr size_t kBlock = 32;   // added in sequence
  static constexpr size_t kLevels = 27;  // enough for the 2^31 elements of the largest tensor

  // Like adding one to a binary counter: partial sums of equal levels are added and move up a level.
  void carry() {
    // The trailing ones of blocks_ are the levels that are complete.
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
  T partial_[kLevels];  // valid if the level's bit in blocks_ is set
};

// Wrapping integers need no levels.
template <>
class PairwiseSum<int64_t> {
 public:
  void add(int64_t value) { sum_ = wrapping_add(sum_, value); }
  void add(const int64_t* values, size_t n) {
    int64_t sum = sum_;
    for (size_t i = 0; i < n; ++i) sum = wrapping_add(sum, values[i]);
    sum_ = sum;
  }
  [[nodiscard]] int64_t total() const { return sum_; }

 private:
  int64_t sum_ = 0;
};

#ifndef __OPTIMIZE_SIZE__
// totals[part] = the sum of f(i) over every kParts-th i in [first + part, end); first and end are multiples
// of kParts. For parts of long sums: each of the sums side by side adds one value after the other.
template <size_t kParts, class T, class F>
RL_LOOPS void sum_side_by_side(size_t first, size_t end, const F& f, T* totals) {
  constexpr size_t kSums = 128 / sizeof(T);
  T sums[kSums] = {};
  size_t i = first;
  for (; end - i >= kSums; i += kSums) {
    for (size_t k = 0; k < kSums; ++k) sums[k] += f(i + k);
  }
  for (size_t half = kSums / 2; half >= kParts; half /= 2) {
    for (size_t k = 0; k < half; ++k) sums[k] += sums[k + half];
  }
  for (; i < end; ++i) sums[i % kParts] += f(i);
  for (size_t part = 0; part < kParts; ++part) totals[part] = sums[part];
}
#endif

// Adds f(i) for i < n, of which kParts in turn belong to as many sums. In builds for speed compilers
// vectorize f if it is inlined.
template <size_t kParts, class T, class F>
void add_terms(PairwiseSum<T>* sums, size_t n, const F& f) {
#ifndef __OPTIMIZE_SIZE__
  if (ukernel::runs_loops()) {
    constexpr size_t kLength = 32 * 128 / sizeof(T);  // 32 additions to each of the sums side by side
    for (size_t first = 0; first < n; first += kLength) {
      T totals[kParts];
      sum_side_by_side<kParts>(first, n - first < kLength ? n : first + kLength, f, totals);
      for (size_t part = 0; part < kParts; ++part) sums[part].add(totals[part]);
    }
    return;
  }
#endif
  for (size_t i = 0; i < n; ++i) sums[i % kParts].add(f(i));
}

// The accumulator dtypes for a set; complex elements are summed by parts.
constexpr TypeSet accumulated_in(TypeSet set) {
  const TypeSet parts = (set & types::kComplex) != 0 ? type_set(ScalarType::Float, ScalarType::Double) : 0;
  const TypeSet floats = computed_in(set & types::kFloating) | parts;
  return (set & ~types::kFloating & ~types::kComplex) != 0 ? floats | type_set(ScalarType::Long) : floats;
}

// Writes the sum, or mean, to every element of `out`; complex elements part by part. As in PyTorch, sums
// convert elements to the dtype of `out` first, so that large ones become infinite in float16; means convert
// them to the accumulator's dtype, and require a floating `out`. `types` is the set of dtypes of the
// operator. InvalidType if the dtype of `self` or `out` is not selected.
Error sum_into(TypeSet types, const Reduction& reduction, const Tensor& self, const Tensor& out);
Error mean_into(TypeSet types, const Reduction& reduction, const Tensor& self, const Tensor& out);

}  // namespace rushlight::kernels

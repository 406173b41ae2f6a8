// SPDX-License-Identifier: BSD-3-Clause
// Sums over reduced dimensions: floating numbers pairwise, so that the error grows with the logarithm
// of the count; integers in int64, wrapping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/shared/arithmetic.h"
#include "kernels/shared/reduce.h"
#include "runtime/tensor/dispatch.h"

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

namespace internal {

constexpr TypeSet accumulated_in(TypeSet set) {
  const TypeSet parts = (set & types::kComplex) != 0 ? type_set(ScalarType::Float, ScalarType::Double) : 0;
  const TypeSet floats = computed_in(set & types::kFloating) | parts;
  return (set & ~types::kFloating & ~types::kComplex) != 0 ? floats | type_set(ScalarType::Long) : floats;
}

// Of real numbers of type `to`. Where `is_zero` there is nothing to add.
template <TypeSet kTypes, class Finish>
Error sum_runs(const Reduction& reduction, ScalarType to, bool is_zero, Finish finish) {
  const ScalarType held = accumulated_type(to);
  RL_TRY(check_convertible(held));
  return dispatch<accumulated_in(kTypes)>(held, [&](auto type) {
    using T = typename decltype(type)::Element;
    reduction.for_each_output([&](const char* first, char* result) {
      PairwiseSum<T> sum;
      if (!is_zero) {
        reduction.for_each_run<T>(first, [&](const T* values, ptrdiff_t stride, size_t n) {
          for (size_t i = 0; i < n; ++i) sum.add(values[static_cast<ptrdiff_t>(i) * stride]);
        });
      }
      const T value = finish(sum.total());
      convert_run(result, 0, to, &value, 0, held, 1);
    });
    return Error::Ok;
  });
}

}  // namespace internal

// Writes finish(sum) to every element of `out`, where finish takes and returns a number of the type
// the sum is held in, of complex numbers each part. Elements are converted to the dtype of `out` as they
// are added. InvalidType when the dtype of `self` or `out` is not selected.
template <TypeSet kTypes, class Finish>
Error sum_into(const Reduction& reduction, const Tensor& self, const Tensor& out, Finish finish) {
  const ScalarType type = out.scalar_type();
  if (!contains(kTypes, type)) return unsupported_type(type);
  RL_TRY(check_convertible(self.scalar_type()));
  RL_TRY(check_convertible(type));
  if constexpr ((kTypes & types::kComplex) != 0) {
    if (is_complex(type)) {
      for (const size_t which : {0, 1}) {
        const bool is_zero = which == 1 && !is_complex(self.scalar_type());
        RL_TRY(internal::sum_runs<kTypes>(reduction.of_parts(which, type), component_type(type), is_zero,
                                          finish));
      }
      return Error::Ok;
    }
  }
  return internal::sum_runs<kTypes>(reduction, type, false, finish);
}

}  // namespace rushlight::kernels

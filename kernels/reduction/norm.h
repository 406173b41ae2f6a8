// SPDX-License-Identifier: BSD-3-Clause
// Vector norms over dimensions. Sums are pairwise, see sum.h; squares of large values may overflow, as in
// PyTorch: norms are not scaled.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "kernels/reduction/reduce.h"
#include "kernels/reduction/sum.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Accumulates the p-norm of a sequence of values: (sum of |x|^p)^(1/p). 1 and 2 need no pow(). NaN
// propagates. T is float or double.
template <class T>
class Norm {
 public:
  explicit Norm(T p) : p_(p) {}

  void add(T value) {
    const T size = std::abs(value);
    if (std::isinf(p_)) {
      // NaN sticks: no comparison replaces it once it is the extreme.
      if (!started_ || size != size || (p_ > 0 ? size > extreme_ : size < extreme_)) {
        if (extreme_ == extreme_) extreme_ = size;
      }
      started_ = true;
    } else if (p_ == 0) {
      // 0^0 counts as 0 here, as PyTorch's norm of order 0 does.
      sum_.add(static_cast<T>(value != 0));
    } else {
      sum_.add(p_ == 2 ? value * value : (p_ == 1 ? size : std::pow(size, p_)));
    }
  }

  // Adds n values, `stride` elements apart.
  template <class V>
  void add(const V* values, ptrdiff_t stride, size_t n) {
#ifndef __OPTIMIZE_SIZE__
    if (stride == 1) return add_each(n, [values](size_t i) { return static_cast<T>(values[i]); });
    T terms[kLength];
    for (size_t length = 0; n > 0; n -= length, values += static_cast<ptrdiff_t>(length) * stride) {
      length = n < kLength ? n : kLength;
      for (size_t i = 0; i < length; ++i) terms[i] = values[static_cast<ptrdiff_t>(i) * stride];
      add_terms_of(terms, length);
    }
#else
    for (size_t i = 0; i < n; ++i) add(static_cast<T>(values[static_cast<ptrdiff_t>(i) * stride]));
#endif
  }

  // Adds value_of(i) for i < n. Compilers vectorize it for p = 2 if it is inlined.
  template <class F>
  void add_each(size_t n, const F& value_of) {
#ifndef __OPTIMIZE_SIZE__
    if (p_ == 2) {
      return add_terms<1>(&sum_, n, [value_of](size_t i) {
        const T value = value_of(i);
        return value * value;
      });
    }
    T terms[kLength];
    for (size_t first = 0; first < n; first += kLength) {
      const size_t length = n - first < kLength ? n - first : kLength;
      for (size_t i = 0; i < length; ++i) terms[i] = value_of(first + i);
      add_terms_of(terms, length);
    }
#else
    for (size_t i = 0; i < n; ++i) add(value_of(i));
#endif
  }

  // The norm of the values so far; 0 without values if p is not negative.
  [[nodiscard]] T result() const {
    if (std::isinf(p_)) return extreme_;
    const T total = sum_.total();
    if (p_ == 0 || p_ == 1) return total;
    return p_ == 2 ? std::sqrt(total) : std::pow(total, 1 / p_);
  }

 private:
#ifndef __OPTIMIZE_SIZE__
  static constexpr size_t kLength = 64;

  // Adds n values, which it overwrites. The common norms take several sums side by side.
  [[gnu::noinline]] void add_terms_of(T* values, size_t n) {
    if (p_ == 2) {
      for (size_t i = 0; i < n; ++i) values[i] *= values[i];
    } else if (p_ == 1) {
      for (size_t i = 0; i < n; ++i) values[i] = std::abs(values[i]);
    } else if (p_ == 0) {
      for (size_t i = 0; i < n; ++i) values[i] = values[i] != 0 ? T(1) : T(0);
    } else {
      for (size_t i = 0; i < n; ++i) add(values[i]);
      return;
    }
    sum_.add(values, n);
  }
#endif

  T p_;
  T extreme_ = 0;
  bool started_ = false;
  PairwiseSum<T> sum_;
};

// Plans the p-norm along `dims`: checks dtypes and the shape of `out`, and resizes it. `types` are the dtypes
// of the operator, `dtype` the one that the call requests; a complex one computes in complex elements and
// gives real results. Errors: InvalidArgument (dims, shape, infinite or negative p of no elements),
// InvalidType.
Error plan_norm(TypeSet types, const Tensor& self, double p, const DimList& dims, bool keepdim,
                std::optional<int64_t> dtype, const Tensor& out, Reduction* reduction);

// Computes a planned norm. p = 0 counts nonzero elements; infinite p is the largest or smallest absolute
// value. Elements are converted to the dtype of `out`, or to float if that has 16 bits; PyTorch refuses a
// dtype that is narrower than theirs, so they need no rounding first. Complex elements count by their moduli,
// and `out` has the dtype of their parts.
Error norm_into(const Reduction& reduction, const Tensor& self, double p, const Tensor& out);

}  // namespace rushlight::kernels

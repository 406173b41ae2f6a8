// SPDX-License-Identifier: BSD-3-Clause
// Shared by layer and group normalization: statistics of a group of elements, and the dtypes of parameters.
// Everything is computed in float or double; 16-bit floats are converted element by element.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <type_traits>

#include "kernels/checks/checks.h"
#include "kernels/elements/convert.h"
#include "kernels/elements/held_access.h"
#include "kernels/reduction/sum.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

// The affine parameters that follow a normalization, each absent or present, and the eps added to the
// variance. 16-bit inputs may have parameters and statistics of the same dtype or of float32.
struct NormalizationParameters {
  std::optional<Tensor> weight;
  std::optional<Tensor> bias;
  double eps;

  // The dtype of weight and bias; `absent` if both are missing.
  [[nodiscard]] ScalarType type(ScalarType absent) const {
    return weight ? weight->scalar_type() : (bias ? bias->scalar_type() : absent);
  }
};

// InvalidArgument unless the parameter is absent or has the shape.
Error check_parameter_shape(const std::optional<Tensor>& parameter, Span<const SizesType> shape,
                            const char* name);

// InvalidType unless `out` has the input's dtype, parameters and statistics have it or are float32 for 16-bit
// inputs, and weight and bias agree. Also if this build cannot convert such dtypes.
Error check_normalization_types(const Tensor& input, const NormalizationParameters& parameters,
                                const Tensor& out, const Tensor& mean, const Tensor& rstd);

// InvalidArgument unless N, C and HxW match the input's shape, and `group`, the number of groups, divides the
// channels. Rank at least 2.
Error check_group_sizes(const Tensor& input, int64_t samples, int64_t channels, int64_t positions,
                        int64_t group);

// Statistics of a group of elements, in the accumulator's type.
template <class A>
struct Moments {
  A mean;
  A rstd;          // 1 / sqrt(variance + eps)
  A variance = 0;  // biased: divided by the number of elements; set by moments_of()
};

namespace internal {

// Adds the squares of distances from the mean to a sum. Takes single values, or contiguous ones.
template <class A>
struct AddSquares {
  PairwiseSum<A>* sum;
  A mean;

  void operator()(A value) const { sum->add((value - mean) * (value - mean)); }
  void operator()(const A* values, size_t n) const {
    constexpr size_t kLength = 64;
    A squares[kLength];
    for (size_t first = 0; first < n; first += kLength) {
      const size_t length = n - first < kLength ? n - first : kLength;
      for (size_t i = 0; i < length; ++i) {
        squares[i] = (values[first + i] - mean) * (values[first + i] - mean);
      }
      sum->add(squares, length);
    }
  }
};
template <class A>
struct AddValues {
  PairwiseSum<A>* sum;

  void operator()(A value) const { sum->add(value); }
  void operator()(const A* values, size_t n) const { sum->add(values, n); }
};

}  // namespace internal

// Mean and inverse standard deviation of `count` elements; `each` calls its argument with every element, or
// with every span of contiguous ones and its length. Two passes, because the one-pass formula cancels if the
// mean is large. Sums are pairwise. The variance divides by `count`, as PyTorch's normalizations do. No
// elements: mean 0, rstd and variance NaN.
template <class A, class Each>
Moments<A> moments_of(size_t count, double eps, Each each) {
  if (count == 0) return {A(0), static_cast<A>(NAN), static_cast<A>(NAN)};
  PairwiseSum<A> sum;
  each(internal::AddValues<A>{&sum});
  const A mean = sum.total() / static_cast<A>(count);
  PairwiseSum<A> squares;
  each(internal::AddSquares<A>{&squares, mean});
  const A variance = squares.total() / static_cast<A>(count);
  return {mean, A(1) / std::sqrt(variance + static_cast<A>(eps)), variance};
}

// Stores one statistic, converted to `type`, which check_normalization_types() has accepted.
template <class A>
void write_statistic(char* target, ScalarType type, A value) {
  convert_span(target, 0, type, &value, 0, scalar_type_of<A>, 1);
}

// Calls f(elements, parameters), each a DirectElements or HeldElements. float and double get their own loops
// with parameters of the same dtype; 16-bit floats share one loop in float, with parameters of either dtype.
// InvalidType for dtypes outside of kTypes. Precondition: check_normalization_types().
template <TypeSet kTypes, class F>
Error dispatch_normalization(ScalarType input, ScalarType parameters, F f) {
  if (!contains(kTypes, input)) return unsupported_type(input);
  if constexpr ((kTypes & types::kReducedFloat) != 0) {
    if (contains(types::kReducedFloat, input)) {
      if (!contains(kAnySelectedType, parameters)) return unsupported_type(parameters);
      return f(HeldElements<float>(input), HeldElements<float>(parameters));
    }
  }
  return dispatch<(kTypes & ~types::kReducedFloat)>(input, [&](auto type) {
    const DirectElements<typename decltype(type)::Element> elements;
    return f(elements, elements);
  });
}

}  // namespace rushlight::kernels

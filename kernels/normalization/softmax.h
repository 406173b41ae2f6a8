// SPDX-License-Identifier: BSD-3-Clause
// Shared by softmax and log_softmax: dtype checks, and the maximum and sum that shift and scale a fiber.
// Subtracting the maximum keeps every exponential in (0, 1], so neither they nor their sum overflow.
#pragma once

#include <cmath>
#include <cstddef>

#include "kernels/reduction/sum.h"
#include "kernels/walk/paired_fibers.h"
#include "runtime/base/error.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// InvalidType unless `out` has the dtype of `self`; with half_to_float, `self` must be float16 and `out`
// float32. The dispatch checks that the dtype is selected.
Error check_softmax_types(const Tensor& self, bool half_to_float, const Tensor& out);

// T is float or double. Softmax is exp(x - largest) / sum, log_softmax x - largest - log(sum).
template <class T>
struct FiberScale {
  T largest;
  T sum;  // of exp(x - largest)
};

// Two passes over the fiber, which has at least one element; the sum is pairwise, in T. A fiber of only -inf
// gives NaN, as in PyTorch, because -inf minus -inf is NaN.
template <class T, class In, class Out>
FiberScale<T> fiber_scale(const FiberPair<In, Out>& fiber) {
  // The maximum is exact; only the exponentials and their sum are rounded.
  T largest = static_cast<T>(fiber.get(0));
  for (size_t i = 1; i < fiber.size; ++i) {
    const T value = static_cast<T>(fiber.get(i));
    if (value > largest) largest = value;  // NaN reaches the result through the sum
  }
  PairwiseSum<T> sum;
  for (size_t i = 0; i < fiber.size; ++i) sum.add(std::exp(static_cast<T>(fiber.get(i)) - largest));
  return {largest, sum.total()};
}

// Calls f(fiber, T of the arithmetic) for every fiber of a tensor of dtype `of`: T is double for double and
// float for all others. FiberPair<In, Out> has Out = float with half_to_float. InvalidType if kTypes does not
// contain the dtype.
template <TypeSet kTypes, class F>
Error for_each_softmax_fiber(const PairedFibers& fibers, ScalarType of, bool half_to_float, F f) {
  return dispatch < kTypes & types::kFloating > (of, [&](auto type) {
                               using In = typename decltype(type)::Element;
                               // Only float64 is summed in double.
                               using T = std::conditional_t<std::is_same_v<In, double>, double, float>;
                               if constexpr (std::is_same_v<In, Half>) {
                                 if (half_to_float) {
                                   fibers.for_each<In, float>([&](const auto& fiber) { f(fiber, T{}); });
                                   return Error::Ok;
                                 }
                               }
                               fibers.for_each<In, In>([&](const auto& fiber) { f(fiber, T{}); });
                               return Error::Ok;
                             });
}

}  // namespace rushlight::kernels

// SPDX-License-Identifier: BSD-3-Clause
// What softmax and log_softmax share: the types they take and the two numbers every lane is shifted
// and scaled by.
#pragma once

#include <cmath>
#include <cstddef>

#include "kernels/reduction/sum.h"
#include "kernels/walk/paired_fibers.h"
#include "runtime/base/error.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// `out` has the dtype of `self`; with half_to_float, `self` is float16 and `out` float32. InvalidType.
Error check_softmax_types(const Tensor& self, bool half_to_float, const Tensor& out);

// T is float or double.
template <class T>
struct LaneScale {
  T largest;
  T sum;  // of exp(x - largest)
};

// A lane of nothing but -inf gives NaN, as in PyTorch.
template <class T, class In, class Out>
LaneScale<T> lane_scale(const Lane<In, Out>& lane) {
  T largest = static_cast<T>(lane.get(0));
  for (size_t i = 1; i < lane.size; ++i) {
    const T value = static_cast<T>(lane.get(i));
    if (value > largest) largest = value;  // a NaN reaches the result through the sum
  }
  PairwiseSum<T> sum;
  for (size_t i = 0; i < lane.size; ++i) sum.add(std::exp(static_cast<T>(lane.get(i)) - largest));
  return {largest, sum.total()};
}

// Calls f(lane, T of the arithmetic) for every lane of a tensor of dtype `of`, in the element types.
template <TypeSet kTypes, class F>
Error for_each_softmax_lane(const Lanes& lanes, ScalarType of, bool half_to_float, F f) {
  return dispatch < kTypes & types::kFloating > (of, [&](auto type) {
                               using In = typename decltype(type)::Element;
                               using T = std::conditional_t<std::is_same_v<In, double>, double, float>;
                               if constexpr (std::is_same_v<In, Half>) {
                                 if (half_to_float) {
                                   lanes.for_each<In, float>([&](const auto& lane) { f(lane, T{}); });
                                   return Error::Ok;
                                 }
                               }
                               lanes.for_each<In, In>([&](const auto& lane) { f(lane, T{}); });
                               return Error::Ok;
                             });
}

}  // namespace rushlight::kernels

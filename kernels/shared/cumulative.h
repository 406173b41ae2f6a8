// SPDX-License-Identifier: BSD-3-Clause
// Running sums and products along a dimension.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "kernels/shared/checks.h"
#include "kernels/shared/convert.h"
#include "kernels/shared/lane_walk.h"
#include "kernels/shared/selection.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace internal {

// As PyTorch holds it: float32 in double, 16-bit floats in float.
template <class T>
using Running =
    std::conditional_t<std::is_integral_v<T>, int64_t, std::conditional_t<sizeof(T) == 2, float, double>>;

template <class T, class F>
void cumulate_lane(const ViewLane& source, ScalarType type, const ViewLane& target, int start, F f) {
  constexpr ptrdiff_t kRun = 64;
  T values[kRun];
  auto running = static_cast<Running<T>>(start);
  for (ptrdiff_t first = 0; first < source.size; first += kRun) {
    const ptrdiff_t n = source.size - first < kRun ? source.size - first : kRun;
    convert_run(values, sizeof(T), scalar_type_of<T>, source.data + first * source.stride, source.stride,
                type, static_cast<size_t>(n));
    for (ptrdiff_t i = 0; i < n; ++i) {
      running = f(running, static_cast<Running<T>>(values[i]));
      target.at<T>(first + i) = static_cast<T>(running);
    }
  }
}

// Complex numbers, each converted to complex128 and back.
template <class F>
void cumulate_complex_lane(const ViewLane& source, ScalarType type, const ViewLane& target,
                           ScalarType target_type, int start, F f) {
  Complex<double> running(start);
  for (ptrdiff_t i = 0; i < source.size; ++i) {
    Complex<double> value;
    convert_run(&value, 0, ScalarType::ComplexDouble, source.data + i * source.stride, 0, type, 1);
    running = f(running, value);
    convert_run(target.data + i * target.stride, 0, target_type, &running, 0, ScalarType::ComplexDouble, 1);
  }
}

}  // namespace internal

// out[i] = f(out[i - 1], self[i]) along `dim`, from `start` on. Elements are converted to the dtype of
// `out`, bool excepted, before they are used. Errors: InvalidArgument (dim; shape), InvalidType.
template <TypeSet kTypes, class F>
Error cumulate(const Tensor& self, int64_t dim, std::optional<int64_t> dtype, const Tensor& out, int start,
               F f) {
  RL_TRY(check_requested_dtype(dtype, out));
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &d));
  RL_TRY(resize_out(out, self.sizes()));
  RL_TRY(check_convertible(self.scalar_type()));
  RL_TRY(check_convertible(out.scalar_type()));
  const View views[] = {at_least_1d(self), at_least_1d(out)};
  if constexpr ((kTypes & types::kComplex) != 0) {
    if (contains(kTypes & types::kComplex, out.scalar_type())) {
      return for_each_lane(views, d, [&](const ViewLane* lanes) {
        internal::cumulate_complex_lane(lanes[0], self.scalar_type(), lanes[1], out.scalar_type(), start, f);
        return Error::Ok;
      });
    }
  }
  return dispatch<kTypes & ~types::kBool & ~types::kComplex>(out.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    return for_each_lane(views, d, [&](const ViewLane* lanes) {
      internal::cumulate_lane<T>(lanes[0], self.scalar_type(), lanes[1], start, f);
      return Error::Ok;
    });
  });
}

}  // namespace rushlight::kernels

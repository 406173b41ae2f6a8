// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "kernels/shared/selection.h"
#include "kernels/shared/upsample.h"
#include "kernels/shared/view.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// In float whatever the elements are: that decides which of two equally near ones it is.
ptrdiff_t nearest(const Resampling& dimension, ptrdiff_t index) {
  const float position = std::floor(static_cast<float>(index) * dimension.scale<float>());
  return std::min(static_cast<ptrdiff_t>(position), dimension.in - 1);
}

}  // namespace

Error upsample_nearest2d_vec_out(KernelContext&, const Tensor& input,
                                 std::optional<Span<const int64_t>> output_size,
                                 std::optional<Span<const double>> scale_factors, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::upsample_nearest2d.vec_out");
  Resampling dimensions[2];
  RL_TRY(plan_upsample2d(input, output_size, scale_factors, out, dimensions));
  const View source = View::of(input);
  const View target = View::of(out);
  return dispatch<kTypes>(input.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    for (ptrdiff_t y = 0; y < dimensions[0].out; ++y) {
      for (ptrdiff_t x = 0; x < dimensions[1].out; ++x) {
        const char* from = source.data + nearest(dimensions[0], y) * source.strides[2] +
                           nearest(dimensions[1], x) * source.strides[3];
        char* to = target.data + y * target.strides[2] + x * target.strides[3];
        for (ptrdiff_t n = 0; n < source.sizes[0]; ++n) {
          for (ptrdiff_t c = 0; c < source.sizes[1]; ++c) {
            *reinterpret_cast<T*>(to + n * target.strides[0] + c * target.strides[1]) =
                *reinterpret_cast<const T*>(from + n * source.strides[0] + c * source.strides[1]);
          }
        }
      }
    }
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels

// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "kernels/shared/accumulator.h"
#include "kernels/shared/selection.h"
#include "kernels/shared/upsample.h"
#include "kernels/shared/view.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// Images of integers are computed in float, and rounded after each of the two dimensions.
template <class T>
using Weight = std::conditional_t<std::is_integral_v<T>, float, Accumulator<T>>;

// Two neighbours of an output position, in bytes from the first, and how much the second weighs.
template <class W>
struct Neighbours {
  ptrdiff_t first;
  ptrdiff_t second;
  W weight;
};

template <class W>
Neighbours<W> neighbours(const Resampling& dimension, bool align_corners, ptrdiff_t index, ptrdiff_t stride) {
  W position = 0;
  if (!align_corners) {
    position = (static_cast<W>(index) + W(0.5)) * dimension.scale<W>() - W(0.5);
    position = position > 0 ? position : 0;
  } else if (dimension.out > 1) {
    position = static_cast<W>(index) * (static_cast<W>(dimension.in - 1) / static_cast<W>(dimension.out - 1));
  }
  const auto first = std::min(static_cast<ptrdiff_t>(position), dimension.in - 1);
  const ptrdiff_t second = first + (first < dimension.in - 1 ? 1 : 0);
  const W weight = std::min(std::max(position - static_cast<W>(first), W(0)), W(1));
  return {first * stride, second * stride, weight};
}

template <class T>
Weight<T> element(const char* at) {
  return static_cast<Weight<T>>(*reinterpret_cast<const T*>(at));
}

template <class T>
Weight<T> blend(Weight<T> first, Weight<T> second, Weight<T> weight) {
  using W = Weight<T>;
  const W blended = (W(1) - weight) * first + weight * second;
  if constexpr (std::is_integral_v<T>) return std::floor(blended + W(0.5));
  return blended;
}

template <class T>
void resample_plane(const Resampling* dimensions, bool align_corners, const char* in,
                    const ptrdiff_t* in_strides, char* out, const ptrdiff_t* out_strides) {
  using W = Weight<T>;
  for (ptrdiff_t y = 0; y < dimensions[0].out; ++y) {
    const Neighbours<W> rows = neighbours<W>(dimensions[0], align_corners, y, in_strides[0]);
    for (ptrdiff_t x = 0; x < dimensions[1].out; ++x) {
      const Neighbours<W> columns = neighbours<W>(dimensions[1], align_corners, x, in_strides[1]);
      const auto blend_row = [&](const char* row) {
        return blend<T>(element<T>(row + columns.first), element<T>(row + columns.second), columns.weight);
      };
      *reinterpret_cast<T*>(out + y * out_strides[0] + x * out_strides[1]) =
          static_cast<T>(blend<T>(blend_row(in + rows.first), blend_row(in + rows.second), rows.weight));
    }
  }
}

}  // namespace

Error upsample_bilinear2d_vec_out(KernelContext&, const Tensor& input,
                                  std::optional<Span<const int64_t>> output_size, bool align_corners,
                                  std::optional<Span<const double>> scale_factors, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::upsample_bilinear2d.vec_out");
  Resampling dimensions[2];
  RL_TRY(plan_upsample2d(input, output_size, scale_factors, out, dimensions));
  const View source = View::of(input);
  const View target = View::of(out);
  return dispatch<kTypes>(input.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    for (ptrdiff_t n = 0; n < source.sizes[0]; ++n) {
      for (ptrdiff_t c = 0; c < source.sizes[1]; ++c) {
        resample_plane<T>(dimensions, align_corners,
                          source.data + n * source.strides[0] + c * source.strides[1], source.strides + 2,
                          target.data + n * target.strides[0] + c * target.strides[1], target.strides + 2);
      }
    }
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels

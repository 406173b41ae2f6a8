// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/checks/selection.h"
#include "kernels/quantization/affine.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// The range is always that of int8; the dtype argument is ignored.
constexpr float kLowest = -128;
constexpr float kHighest = 127;

// Derives the zero point from the end of the range with the smaller rounding error, as PyTorch does. The
// scale is at least epsilon of float32, so a row of zeros divides by no zero.
Affine choose(const RealExtent& extent) {
  const float scale =
      std::max((extent.max - extent.min) / (kHighest - kLowest), std::numeric_limits<float>::epsilon());
  const float low = extent.min / scale;
  const float high = extent.max / scale;
  const float exact = (kLowest + low) + (kHighest + high) > 0 ? kLowest - low : kHighest - high;
  // Infinite elements give NaN.
  const float zero_point = exact == exact ? std::clamp(exact, kLowest, kHighest) : kLowest;
  return {scale, std::nearbyint(zero_point)};
}

}  // namespace

// Scale and zero point of each token, a row along the last dimension: input [..., size], results [..., 1].
Error choose_qparams_per_token_asymmetric_out(KernelContext&, const Tensor& input, int64_t, Tensor& scale_out,
                                              Tensor& zero_point_out) {
  constexpr TypeSet kTypes = selected_types("quantized_decomposed::choose_qparams_per_token_asymmetric.out");
  RL_TRY(check_type(input, kTypes & kRealTypes, "input"));
  RL_TRY(check_type(scale_out, kTypes & kScaleTypes, "scale_out"));
  RL_TRY(check_type(zero_point_out, kTypes & kZeroPointTypes, "zero_point_out"));
  size_t tokens = 0;
  RL_TRY(check_tokens(input, "input", &tokens));
  Shape shape;
  for (const SizesType size : input.sizes()) shape.push(size);
  const SizesType size = shape.sizes[shape.dim - 1];
  shape.sizes[shape.dim - 1] = 1;
  RL_TRY(resize_out(scale_out, shape.span()));
  RL_TRY(resize_out(zero_point_out, shape.span()));
  RL_TRY(check_tokens(scale_out, "scale_out", &tokens));
  RL_TRY(check_tokens(zero_point_out, "zero_point_out", &tokens));
  char* from = input.mutable_data_ptr<char>();
  for (size_t token = 0; token < tokens; ++token) {
    RealExtent extent;
    RL_TRY(find_extent(View::row_major(from, input.scalar_type(), {&size, 1}), &extent));
    const Affine affine = choose(extent);
    write_number(scale_out, token, affine.scale);
    write_number(zero_point_out, token, affine.zero_point);
    from += static_cast<size_t>(size) * input.element_size();
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels

// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "kernels/checks/selection.h"
#include "kernels/quantization/affine.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Maps the range of the input, extended to include 0, to the quantized range. One scale and zero point:
//
//   scale = max((max - min) / (quant_max - quant_min), eps)
//   zero_point = clamp(quant_min - round(min / scale), quant_min, quant_max)
//
// in float32, halves to even. 0 is then represented exactly. NaN and empty inputs are errors.
Error choose_qparams_tensor_out(KernelContext&, const Tensor& input, int64_t quant_min, int64_t quant_max,
                                double eps, int64_t dtype, Tensor& scale_out, Tensor& zero_point_out) {
  constexpr TypeSet kTypes = selected_types("quantized_decomposed::choose_qparams.Tensor_out");
  const SizesType one = 1;
  RL_TRY(check_type(input, kTypes & kRealTypes, "input"));
  RL_TRY(check_type(scale_out, kTypes & kScaleTypes, "scale_out"));
  RL_TRY(check_type(zero_point_out, kTypes & kZeroPointTypes, "zero_point_out"));
  RL_TRY(check_range(dtype, {quant_min, quant_max}));
  RL_CHECK(quant_min <= 0 && quant_max >= 0 && quant_min < quant_max, Error::InvalidArgument,
           "quant_min, quant_max: expected a range with 0 in it, got %ld to %ld",
           static_cast<long>(quant_min), static_cast<long>(quant_max));
  RL_TRY(resize_out(scale_out, {&one, 1}));
  RL_TRY(resize_out(zero_point_out, {&one, 1}));
  RealExtent extent;
  RL_TRY(find_extent(View::of(input), &extent));

  const auto lowest = static_cast<double>(quant_min);
  const float spread = (extent.max - extent.min) / static_cast<float>(quant_max - quant_min);
  const float scale = std::max(spread, static_cast<float>(eps));
  const float zero_point = std::nearbyint(extent.min / scale);
  write_number(scale_out, 0, scale);
  // Infinite elements give a NaN zero point; the lowest value replaces it.
  const double unbounded = zero_point == zero_point ? lowest - zero_point : lowest;
  write_number(zero_point_out, 0, std::clamp(unbounded, lowest, static_cast<double>(quant_max)));
  return Error::Ok;
}

}  // namespace rushlight::kernels

// SPDX-License-Identifier: BSD-3-Clause
// Quantization of activations by ranges that are found as the model runs. Numbers are int8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/base/error.h"

namespace rushlight::kernels {

enum class RangeMapping : uint8_t {
  kAsymmetric,  // the zero point is low - round(min / scale)
  kNearerEnd,   // it comes from the end of the range that is met with the smaller error; elements are
                // quantized in float64, with the zero point added before rounding
  kSymmetric,   // the zero point is the middle of the range
  kXnnpack,  // as XNNPACK has it: the inverse of the scale is found first, the zero point as in kNearerEnd by
             // products with it
};

struct DynamicRange {
  RangeMapping mapping = RangeMapping::kAsymmetric;
  float low = -128;
  float high = 127;
  float least_scale = 0;
};

// InvalidArgument unless the mapping's name is "asymmetric", "nearer_end", "symmetric" or "xnnpack", the
// range one of int8 with 0 in it, and the least scale a normal float32.
Error make_dynamic_range(std::string_view mapping, int64_t low, int64_t high, double least_scale,
                         DynamicRange* made);

// The smallest and the largest of some elements, 0 among them; both NaN where one is.
struct DynamicExtent {
  float min = 0;
  float max = 0;

  void include(float value);
};

// real = (quantized - zero_point) * scale.
struct DynamicScale {
  float scale = 0;  // NaN where the extent is
  int32_t zero_point = 0;
};

// For elements of such an extent, with the steps of PyTorch's definitions in float32.
[[nodiscard]] DynamicScale choose_scale(const DynamicRange& range, const DynamicExtent& extent);

// Quantizes elements `step` apart, less the zero point: -255 to 255.
void quantize_centered(const DynamicRange& range, const DynamicScale& scale, size_t count, const float* from,
                       ptrdiff_t step, int16_t* to);

}  // namespace rushlight::kernels

// SPDX-License-Identifier: BSD-3-Clause
// Quantization of activations to int8 by ranges that are found at run time, as exporters define it: each
// mapping is a sequence of float32 steps, and another order of them would give other scales.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/base/error.h"

namespace rushlight::kernels {

enum class RangeMapping : uint8_t {
  kAsymmetric,  // zero_point = low - round(min / scale)
  kNearerEnd,   // zero point from the end of the range with the smaller error; elements are quantized in
                // float64, with the zero point added before rounding
  kSymmetric,   // the zero point is the middle of the range
  kXnnpack,     // as XNNPACK: computes the inverse scale first; the zero point is as in kNearerEnd, from
                // products with it
};

// A checked range: elements are quantized to [low, high], with a scale of at least `least_scale`. `low` and
// `high` are integers, kept as floats for the steps.
struct DynamicRange {
  RangeMapping mapping = RangeMapping::kAsymmetric;
  float low = -128;
  float high = 127;
  float least_scale = 0;
};

// InvalidArgument unless the name of the mapping is "asymmetric", "nearer_end", "symmetric" or "xnnpack",
// [low, high] is a range of int8 that contains 0, and the least scale is a normal float32.
Error make_dynamic_range(std::string_view mapping, int64_t low, int64_t high, double least_scale,
                         DynamicRange* made);

// The smallest and largest of some elements and 0; both NaN if an element is NaN.
struct DynamicExtent {
  float min = 0;
  float max = 0;

  void include(float value);
};

// real = (quantized - zero_point) * scale.
struct DynamicScale {
  float scale = 0;  // NaN if the extent is
  int32_t zero_point = 0;
  // Elements are multiplied by it. kXnnpack computes the scale from this float32, which 1 / scale may not
  // give back; the other mappings compute it from the scale.
  double inverse = 0;
};

// Computes scale and zero point for an extent, with the float32 steps of the definition, so that the bits
// match. The zero point is in [low, high].
[[nodiscard]] DynamicScale choose_scale(const DynamicRange& range, const DynamicExtent& extent);

// Quantizes `count` elements with stride `step`, and subtracts the zero point: results are in [-255, 255], so
// products with weights need no correction for it. Rounds halves to even; NaN becomes 0 before the
// subtraction.
void quantize_centered(const DynamicRange& range, const DynamicScale& scale, size_t count, const float* from,
                       ptrdiff_t step, int16_t* to);

}  // namespace rushlight::kernels

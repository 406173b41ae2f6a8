// SPDX-License-Identifier: BSD-3-Clause
// Follows the float32 steps of each definition exactly, because a different rounding of the scale changes
// results.
#include "kernels/quantization/dynamic_range.h"

#include <algorithm>
#include <cmath>

#include "kernels/checks/checks.h"
#include "kernels/quantization/affine.h"

namespace rushlight::kernels {

namespace {

float asymmetric_zero_point(const DynamicRange& range, const DynamicExtent& extent, float scale) {
  return range.low - std::nearbyint(extent.min / scale);
}

// The zero point from the end of the range with the smaller error; `low` and `high` are the extent in steps.
float nearer_zero_point(const DynamicRange& range, float low, float high) {
  return (range.low + low) + (range.high + high) > 0 ? range.low - low : range.high - high;
}

// Rounds to an integer in the range; an infinite extent gives NaN, which becomes the low end.
int32_t nudged(const DynamicRange& range, float zero_point) {
  const bool is_number = zero_point == zero_point;
  const float inside = is_number ? std::clamp(zero_point, range.low, range.high) : range.low;
  return static_cast<int32_t>(std::nearbyint(inside));
}

// As xnn_qd8_asymmetric_quantization_params(): an extent of only 0 has scale 1.
DynamicScale xnnpack_scale(const DynamicRange& range, const DynamicExtent& extent) {
  // Computes the inverse scale first, as XNNPACK does: the bits of the scale depend on it.
  const float inverse =
      extent.min == extent.max ? 1.0f : (range.high - range.low) / (extent.max - extent.min);
  const float zero_point = nearer_zero_point(range, extent.min * inverse, extent.max * inverse);
  return {1.0f / inverse, nudged(range, zero_point), static_cast<double>(inverse)};
}

template <class C>
void quantize_in(const DynamicRange& range, const DynamicScale& scale, ZeroPoint order, size_t count,
                 const float* from, ptrdiff_t step, int16_t* to) {
  const AffineRange inside = {static_cast<int64_t>(range.low), static_cast<int64_t>(range.high)};
  const Quantizer<int16_t, C> quantize(scale.inverse, static_cast<double>(scale.zero_point), inside, order);
  for (size_t i = 0; i < count; ++i, from += step) {
    to[i] = static_cast<int16_t>(quantize(static_cast<C>(*from)) - scale.zero_point);
  }
}

}  // namespace

Error make_dynamic_range(std::string_view mapping, int64_t low, int64_t high, double least_scale,
                         DynamicRange* made) {
  constexpr std::string_view kNames[] = {"asymmetric", "nearer_end", "symmetric", "xnnpack"};
  constexpr size_t kCount = sizeof kNames / sizeof *kNames;
  size_t found = 0;
  while (found < kCount && kNames[found] != mapping) ++found;
  RL_CHECK(found < kCount, Error::InvalidArgument,
           "mapping: expected asymmetric, nearer_end, symmetric or xnnpack, got %.*s",
           static_cast<int>(std::min<size_t>(mapping.size(), 32)), mapping.data());
  RL_CHECK(low >= -128 && low <= 0 && high >= 0 && high <= 127 && low < high, Error::InvalidArgument,
           "low, high: expected an int8 range with 0, got %ld to %ld", static_cast<long>(low),
           static_cast<long>(high));
  RL_CHECK(least_scale >= 0x1p-126 && least_scale <= 0x1p126, Error::InvalidArgument,
           "least_scale: expected a normal float32 above 0");
  *made = {static_cast<RangeMapping>(found), static_cast<float>(low), static_cast<float>(high),
           static_cast<float>(least_scale)};
  return Error::Ok;
}

void DynamicExtent::include(float value) {
  min = value < min ? value : min;
  max = value > max ? value : max;
  // Comparisons with NaN are false, so an extent of NaN stays NaN.
  if (value != value) min = max = value;
}

DynamicScale choose_scale(const DynamicRange& range, const DynamicExtent& extent) {
  if (range.mapping == RangeMapping::kXnnpack) return xnnpack_scale(range, extent);
  const float steps = range.high - range.low;
  float scale = (extent.max - extent.min) / steps;
  if (range.mapping == RangeMapping::kSymmetric) {
    scale = std::max(-extent.min, extent.max) / (steps / 2);
  }
  // An extent of only 0 would give a scale of 0. NaN fails the comparison and stays.
  scale = scale < range.least_scale ? range.least_scale : scale;
  float zero_point = std::floor((range.low + range.high + 1) / 2);
  if (range.mapping == RangeMapping::kAsymmetric) zero_point = asymmetric_zero_point(range, extent, scale);
  if (range.mapping == RangeMapping::kNearerEnd)
    zero_point = nearer_zero_point(range, extent.min / scale, extent.max / scale);
  return {scale, nudged(range, zero_point), 1.0 / static_cast<double>(scale)};
}

void quantize_centered(const DynamicRange& range, const DynamicScale& scale, size_t count, const float* from,
                       ptrdiff_t step, int16_t* to) {
  // The definition of this mapping computes in float64.
  if (range.mapping == RangeMapping::kNearerEnd) {
    quantize_in<double>(range, scale, ZeroPoint::kBeforeRounding, count, from, step, to);
  } else {
    quantize_in<float>(range, scale, ZeroPoint::kAfterRounding, count, from, step, to);
  }
}

}  // namespace rushlight::kernels

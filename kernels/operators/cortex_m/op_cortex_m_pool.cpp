// SPDX-License-Identifier: BSD-3-Clause
// Pooling of ExecuTorch's Cortex-M backend. Its average is defined in float32: dequantize, sum in the order
// of the window, divide, quantize with halves to even. Averages are often exact halves, whose rounding
// depends on the last bits of the scale. Integer arithmetic cannot reproduce that, so this file computes the
// same float32 steps.
#include <algorithm>
#include <cmath>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/geometry/region.h"
#include "kernels/quantization/folded_columns.h"
#include "kernels/quantization/requantization.h"
#include "kernels/walk/permuted_tensor.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kInt8 = type_set(ScalarType::Char);
constexpr size_t kSpatial = 2;
constexpr uint8_t kInOrder[] = {0, 1, 2, 3};
constexpr uint8_t kChannelsLast[] = {0, 3, 1, 2};  // positions of N, C, H, W in [N, H, W, C]

const uint8_t* dims_of(bool nhwc) { return nhwc ? kChannelsLast : kInOrder; }

int32_t value_at(const char* address) { return *reinterpret_cast<const int8_t*>(address); }

// Calls f with every element of a region, in the order of the window.
template <class F>
void for_each_value(const Region& region, F f) {
  for (ptrdiff_t j = 0; j < region.count[1]; ++j) {
    const char* element = region.data + j * region.stride[1];
    for (ptrdiff_t k = 0; k < region.count[2]; ++k, element += region.stride[2]) f(value_at(element));
  }
}

// A pool with the parameters of its average; for_each_region() hands the same object to the function, which
// casts it back.
struct AveragePool : Pool {
  int32_t zero_point;
  float scale;
};

// Sums in the order of the window, in float32. Padding neither adds nor counts.
void average_region(const Pool& pool, const Region& region, char* pooled, char*) {
  const auto& average = static_cast<const AveragePool&>(pool);
  const float scale = average.scale;
  float sum = 0;
  for_each_value(region,
                 [&](int32_t number) { sum += static_cast<float>(number - average.zero_point) * scale; });
  // A window that lies in the padding has no elements; its average is 0.
  const auto count = static_cast<float>(std::max<int64_t>(region.size(), 1));
  const float steps = std::nearbyintf(sum / count / scale) + static_cast<float>(average.zero_point);
  *reinterpret_cast<int8_t*>(pooled) =
      static_cast<int8_t>(std::min(std::max(steps, float{INT8_MIN}), float{INT8_MAX}));
}

// A pool with the range of an activation that the exporter has fused.
struct MaxPool : Pool {
  int32_t low;
  int32_t high;
};

void largest_of_region(const Pool& pool, const Region& region, char* pooled, char*) {
  const auto& clamped = static_cast<const MaxPool&>(pool);
  int32_t largest = INT8_MIN;
  for_each_value(region, [&](int32_t number) { largest = std::max(largest, number); });
  *reinterpret_cast<int8_t*>(pooled) =
      static_cast<int8_t>(std::min(std::max(largest, clamped.low), clamped.high));
}

// Checks shared by both pools: resizes `out` and calls pool(windows, input, out) with both tensors viewed as
// [N, C, H, W].
template <class F>
Error pool_image(TypeSet types, bool nhwc, const Tensor& input, const PoolArguments& arguments,
                 const Tensor& out, F pool) {
  if (!contains(types & kInt8, input.scalar_type())) return unsupported_type(input.scalar_type());
  RL_TRY(check_same_dtype(input, out, "input and out"));
  RL_CHECK(input.dim() == 4, Error::InvalidArgument, "input: expected rank 4, got %d",
           static_cast<int>(input.dim()));
  const PermutedTensor image(input, dims_of(nhwc));
  Window windows[kSpatial];
  RL_TRY(plan_windows(image.get(), arguments, kSpatial, windows));
  const Shape shape = pooled_shape(image.get(), {windows, kSpatial});
  Shape sizes = shape;
  // Back to the order of the tensor's own sizes.
  for (size_t i = 0; i < 4; ++i) sizes.sizes[dims_of(nhwc)[i]] = shape.sizes[i];
  RL_TRY(resize_out(out, sizes.span()));
  const PermutedTensor result(out, dims_of(nhwc));
  if (out.numel() > 0) pool(windows, image.get(), result.get());
  return Error::Ok;
}

Error average(TypeSet types, bool nhwc, const Tensor& input, const PoolArguments& arguments,
              int64_t zero_point, int64_t multiplier, int64_t shift, const Tensor& out) {
  RL_TRY(check_zero_point(zero_point, ScalarType::Char, "zero_point"));
  // The scale is multiplier * 2^(shift - 31). Within these bounds it is a normal float32.
  RL_CHECK(multiplier >= 1 && multiplier <= INT32_MAX && shift >= -90 && shift <= 90, Error::InvalidArgument,
           "multiplier and shift: expected a scale from 2^-90 to 2^90, got %ld times 2^(%ld - 31)",
           static_cast<long>(multiplier), static_cast<long>(shift));
  const auto scale =
      static_cast<float>(std::ldexp(static_cast<double>(multiplier), static_cast<int>(shift) - 31));
  return pool_image(types, nhwc, input, arguments, out,
                    [&](const Window* windows, const Tensor& image, const Tensor& result) {
                      const AveragePool pool{make_pool(window_tiling, kSpatial, windows, image, result),
                                             static_cast<int32_t>(zero_point), scale};
                      for_each_region(pool, average_region);
                    });
}

Error largest(TypeSet types, bool nhwc, const Tensor& input, const PoolArguments& arguments,
              int64_t input_zero_point, int64_t output_zero_point, int64_t activation_min,
              int64_t activation_max, const Tensor& out) {
  // Quantization is monotonic, so the largest integer is the largest value as long as both sides have one
  // mapping.
  RL_CHECK(input_zero_point == output_zero_point, Error::InvalidArgument,
           "output_zero_point: expected the input's, %ld, got %ld", static_cast<long>(input_zero_point),
           static_cast<long>(output_zero_point));
  RL_TRY(check_activation_range({output_zero_point, activation_min, activation_max}));
  return pool_image(types, nhwc, input, arguments, out,
                    [&](const Window* windows, const Tensor& image, const Tensor& result) {
                      const MaxPool pool{make_pool(window_tiling, kSpatial, windows, image, result),
                                         static_cast<int32_t>(activation_min),
                                         static_cast<int32_t>(activation_max)};
                      for_each_region(pool, largest_of_region);
                    });
}

constexpr int64_t kNoDilation = 1;

}  // namespace

Error cortex_m_quantized_avg_pool2d_out(KernelContext&, const Tensor& input, Span<const int64_t> kernel_size,
                                        Span<const int64_t> stride, Span<const int64_t> padding,
                                        bool ceil_mode, int64_t zero_point, int64_t multiplier, int64_t shift,
                                        const Tensor&, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("cortex_m::quantized_avg_pool2d.out");
  return average(kTypes, false, input, {kernel_size, stride, padding, {&kNoDilation, 1}, ceil_mode},
                 zero_point, multiplier, shift, out);
}

Error cortex_m_quantized_avg_pool2d_nhwc_out(KernelContext&, const Tensor& input,
                                             Span<const int64_t> kernel_size, Span<const int64_t> stride,
                                             Span<const int64_t> padding, bool ceil_mode, int64_t zero_point,
                                             int64_t multiplier, int64_t shift, const Tensor&, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("cortex_m::quantized_avg_pool2d_nhwc.out");
  return average(kTypes, true, input, {kernel_size, stride, padding, {&kNoDilation, 1}, ceil_mode},
                 zero_point, multiplier, shift, out);
}

Error cortex_m_quantized_max_pool2d_out(KernelContext&, const Tensor& input, Span<const int64_t> kernel_size,
                                        Span<const int64_t> stride, Span<const int64_t> padding,
                                        Span<const int64_t> dilation, bool ceil_mode,
                                        int64_t input_zero_point, int64_t output_zero_point,
                                        int64_t activation_min, int64_t activation_max, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("cortex_m::quantized_max_pool2d.out");
  return largest(kTypes, false, input, {kernel_size, stride, padding, dilation, ceil_mode}, input_zero_point,
                 output_zero_point, activation_min, activation_max, out);
}

Error cortex_m_quantized_max_pool2d_nhwc_out(KernelContext&, const Tensor& input,
                                             Span<const int64_t> kernel_size, Span<const int64_t> stride,
                                             Span<const int64_t> padding, Span<const int64_t> dilation,
                                             bool ceil_mode, int64_t input_zero_point,
                                             int64_t output_zero_point, int64_t activation_min,
                                             int64_t activation_max, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("cortex_m::quantized_max_pool2d_nhwc.out");
  return largest(kTypes, true, input, {kernel_size, stride, padding, dilation, ceil_mode}, input_zero_point,
                 output_zero_point, activation_min, activation_max, out);
}

}  // namespace rushlight::kernels

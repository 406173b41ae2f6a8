// SPDX-License-Identifier: BSD-3-Clause
// Means and average pools of integers: dequantize, mean or pool, and quantize fused. Sums are exact, and each
// is rounded once, with the scale input scale / (output scale * number of elements); see divided_scale.h.
#include <algorithm>

#include "kernels/backs/backs.h"
#include "kernels/backs/quantized_average.h"
#include "kernels/checks/checks.h"
#include "kernels/geometry/region.h"
#include "kernels/quantization/divided_scale.h"
#include "kernels/quantization/requantization.h"
#include "kernels/reduction/reduce.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kMeanTypes = selected_types("rushlight::quantized_mean.out") & kQuantizedElements;
constexpr TypeSet kPoolTypes = selected_types("rushlight::quantized_avg_pool2d.out") & kQuantizedElements;
constexpr TypeSet kVolumeTypes = selected_types("rushlight::quantized_avg_pool3d.out") & kQuantizedElements;
constexpr TypeSet kAdaptiveTypes =
    selected_types("rushlight::quantized_adaptive_avg_pool2d.out") & kQuantizedElements;
constexpr TypeSet kAllPoolTypes = kPoolTypes | kVolumeTypes | kAdaptiveTypes;
constexpr size_t kSpatial = 2;

// Checks shared by all operators of this file.
Error check_types(TypeSet own, const Tensor& input, int64_t input_zero_point, const Tensor& out) {
  if (!contains(own, input.scalar_type())) return unsupported_type(input.scalar_type());
  RL_TRY(check_same_dtype(input, out, "input and out"));
  return check_zero_point(input_zero_point, input.scalar_type(), "input_zero_point");
}

// Means of all outputs. The zero point is subtracted once, count times, from each sum, so the inner loop only
// adds. make_requantization_of_sums() has proven that the sums fit in 32 bits.
template <class T>
void average(const QuantizedMeanProblem& problem) {
  const Reduction& reduction = problem.reduction;
  const auto count = static_cast<int64_t>(reduction.count());
  DividedScale scale(problem.to);
  const ukernel::Requantization& to = scale.by(count);
  reduction.for_each_output([&](const char* first, char* result) {
    auto sum = static_cast<int32_t>(-count * problem.input_zero_point);
    reduction.for_each_span<T>(first, [&](const T* values, ptrdiff_t stride, size_t n) {
      for (size_t i = 0; i < n; ++i, values += stride) sum += *values;
    });
    *reinterpret_cast<T*>(result) = static_cast<T>(ukernel::requantize(to, sum, 0));
  });
}

// A pool with zero point and scale, for average_region: for_each_region() passes its argument on, so the
// function can cast it back.
struct QuantizedPool : Pool {
  int32_t zero_point;
  DividedScale* scale;
};

// The average of one window. Its scale depends on the divisor, which may differ at borders.
template <class T>
void average_region(const Pool& pool, const Region& region, char* pooled, char*) {
  const auto& quantized = static_cast<const QuantizedPool&>(pool);
  int32_t sum = 0;
  for (ptrdiff_t i = 0; i < region.count[0]; ++i) {
    for (ptrdiff_t j = 0; j < region.count[1]; ++j) {
      const char* element = region.data + i * region.stride[0] + j * region.stride[1];
      for (ptrdiff_t k = 0; k < region.count[2]; ++k, element += region.stride[2]) {
        sum += *reinterpret_cast<const T*>(element) - quantized.zero_point;
      }
    }
  }
  // Padding counts for the divisor but adds nothing to the sum: an element of the padding equals the zero
  // point.
  const int64_t counted = pool.counts_padding ? region.padded : region.size();
  const int64_t divisor = pool.divisor != 0 ? pool.divisor : counted;
  const ukernel::Requantization& to = quantized.scale->by(std::max<int64_t>(divisor, 1));
  *reinterpret_cast<T*>(pooled) = static_cast<T>(ukernel::requantize(to, sum, 0));
}

// The scale caches its last quotient, so inner windows, which have one divisor, divide once in a row.
Error average_pool(const QuantizedAveragePoolProblem& problem, QuantizedPool* pool) {
  DividedScale scale(problem.to);
  pool->scale = &scale;
  return dispatch<kAllPoolTypes>(problem.dtype, [&](auto type) {
    for_each_region(*pool, average_region<typename decltype(type)::Element>);
    return Error::Ok;
  });
}

// The arguments of a pooling operator.
struct AveragePoolArguments {
  int64_t input_zero_point;
  PoolArguments windows;
  bool counts_padding;
  std::optional<int64_t> divisor;
};

// Checks the arguments and resizes `out`. The caller sets the pool's scale.
Error plan_pool(const AveragePoolArguments& given, const RequantizationArguments& scale, size_t spatial,
                const Tensor& input, const Tensor& out, QuantizedPool* pool, ukernel::Requantization* to) {
  const int64_t divisor = given.divisor.value_or(1);
  RL_CHECK(divisor >= 1 && divisor <= INT32_MAX, Error::InvalidArgument,
           "divisor_override: expected 1 to 2^31 - 1, got %ld", static_cast<long>(divisor));
  Window windows[kVolume];
  RL_TRY(plan_windows(input, given.windows, spatial, windows));
  RL_TRY(resize_out(out, pooled_shape(input, {windows, spatial}).span()));
  size_t most = 1;
  int64_t padded = 1;
  for (size_t d = 0; d < spatial; ++d) {
    RL_CHECK(spatial < kVolume || windows[d].in >= windows[d].kernel, Error::InvalidArgument,
             "input: expected at least the size of the window, got %ld for %ld",  // as in avg_pool3d
             static_cast<long>(windows[d].in), static_cast<long>(windows[d].kernel));
    // At most this many elements add to a sum, which limits its size; the divisor may be larger.
    most *= static_cast<size_t>(std::min(windows[d].in, windows[d].kernel));
    padded *= windows[d].kernel;  // no overflow: both factors have at most 31 bits
    RL_CHECK(padded <= INT32_MAX, Error::InvalidArgument,
             "kernel_size: expected at most 2^31 - 1 elements, got more: %ld in dimension %ld",
             static_cast<long>(windows[d].kernel), static_cast<long>(d));
  }
  RL_TRY(make_requantization_of_sums(scale, out, most, to));
  *static_cast<Pool*>(pool) = make_pool(window_tiling, spatial, windows, input, out);
  pool->zero_point = static_cast<int32_t>(given.input_zero_point);
  pool->divisor = given.divisor.value_or(0);
  pool->counts_padding = given.counts_padding;
  return Error::Ok;
}

}  // namespace

Error quantized_mean_out(KernelContext& context, const Tensor& input, int64_t input_zero_point,
                         std::optional<Span<const int64_t>> dim, bool keepdim, const Tensor& multipliers,
                         const std::optional<Tensor>& shifts, std::string_view rounding,
                         int64_t output_zero_point, int64_t output_min, int64_t output_max, Tensor& out) {
  RL_TRY(check_types(kMeanTypes, input, input_zero_point, out));
  Reduction reduction;
  RL_TRY(reduction.plan(input, all_if_empty(dim), keepdim, out));
  // A mean of no elements would be NaN, which integers do not have.
  RL_CHECK(reduction.count() > 0 || out.numel() == 0, Error::InvalidArgument,
           "input: expected elements for each mean, got none");
  ukernel::Requantization to;
  RL_TRY(make_requantization_of_sums(
      {std::nullopt, multipliers, shifts, rounding, {output_zero_point, output_min, output_max}}, out,
      reduction.count(), &to));
  if (out.numel() == 0) return Error::Ok;
  const QuantizedMeanProblem problem{{input.scalar_type(), static_cast<int32_t>(input_zero_point), to},
                                     reduction};
  return backs::quantized_mean_out(context, problem, [&] {
    return dispatch<kMeanTypes>(input.scalar_type(), [&](auto type) {
      average<typename decltype(type)::Element>(problem);
      return Error::Ok;
    });
  });
}

Error quantized_avg_pool2d_out(KernelContext& context, const Tensor& input, int64_t input_zero_point,
                               Span<const int64_t> kernel_size, Span<const int64_t> stride,
                               Span<const int64_t> padding, bool ceil_mode, bool count_include_pad,
                               std::optional<int64_t> divisor_override, const Tensor& multipliers,
                               const std::optional<Tensor>& shifts, std::string_view rounding,
                               int64_t output_zero_point, int64_t output_min, int64_t output_max,
                               Tensor& out) {
  RL_TRY(check_types(kPoolTypes, input, input_zero_point, out));
  const int64_t no_dilation = 1;
  const AveragePoolArguments given{input_zero_point,
                                   {kernel_size, stride, padding, {&no_dilation, 1}, ceil_mode},
                                   count_include_pad,
                                   divisor_override};
  QuantizedPool pool{};
  ukernel::Requantization to;
  RL_TRY(plan_pool(given,
                   {std::nullopt, multipliers, shifts, rounding, {output_zero_point, output_min, output_max}},
                   kSpatial, input, out, &pool, &to));
  const QuantizedAveragePoolProblem problem{{input.scalar_type(), pool.zero_point, to}, pool};
  return backs::quantized_avg_pool2d_out(context, problem, [&] { return average_pool(problem, &pool); });
}

// No back has this operator: volumes always take the portable loop.
Error quantized_avg_pool3d_out(KernelContext&, const Tensor& input, int64_t input_zero_point,
                               Span<const int64_t> kernel_size, Span<const int64_t> stride,
                               Span<const int64_t> padding, bool ceil_mode, bool count_include_pad,
                               std::optional<int64_t> divisor_override, const Tensor& multipliers,
                               const std::optional<Tensor>& shifts, std::string_view rounding,
                               int64_t output_zero_point, int64_t output_min, int64_t output_max,
                               Tensor& out) {
  RL_TRY(check_types(kVolumeTypes, input, input_zero_point, out));
  const int64_t no_dilation = 1;
  const AveragePoolArguments given{input_zero_point,
                                   {kernel_size, stride, padding, {&no_dilation, 1}, ceil_mode},
                                   count_include_pad,
                                   divisor_override};
  QuantizedPool pool{};
  ukernel::Requantization to;
  RL_TRY(plan_pool(given,
                   {std::nullopt, multipliers, shifts, rounding, {output_zero_point, output_min, output_max}},
                   kVolume, input, out, &pool, &to));
  return average_pool({{input.scalar_type(), pool.zero_point, to}, pool}, &pool);
}

Error quantized_adaptive_avg_pool2d_out(KernelContext& context, const Tensor& input, int64_t input_zero_point,
                                        Span<const int64_t> output_size, const Tensor& multipliers,
                                        const std::optional<Tensor>& shifts, std::string_view rounding,
                                        int64_t output_zero_point, int64_t output_min, int64_t output_max,
                                        Tensor& out) {
  RL_TRY(check_types(kAdaptiveTypes, input, input_zero_point, out));
  Window windows[kSpatial];
  RL_TRY(plan_adaptive(input, output_size, kSpatial, windows));
  RL_TRY(resize_out(out, pooled_shape(input, {windows, kSpatial}).span()));
  size_t most = 1;
  for (const Window& window : windows) {
    // An adaptive window covers at most in / out + 2 elements.
    most *= static_cast<size_t>(window.out == 0 ? 1 : std::min(window.in, window.in / window.out + 2));
  }
  ukernel::Requantization to;
  RL_TRY(make_requantization_of_sums(
      {std::nullopt, multipliers, shifts, rounding, {output_zero_point, output_min, output_max}}, out, most,
      &to));
  QuantizedPool pool{make_pool(adaptive_tiling, kSpatial, windows, input, out),
                     static_cast<int32_t>(input_zero_point), nullptr};
  const QuantizedAveragePoolProblem problem{{input.scalar_type(), pool.zero_point, to}, pool};
  return backs::quantized_adaptive_avg_pool2d_out(context, problem,
                                                  [&] { return average_pool(problem, &pool); });
}

}  // namespace rushlight::kernels

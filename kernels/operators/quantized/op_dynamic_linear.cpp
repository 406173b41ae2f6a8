// SPDX-License-Identifier: BSD-3-Clause
// A linear layer whose input is quantized with a range computed at run time: choose_qparams, quantize,
// dequantize and linear fused. Products are summed as integers. The input is quantized in small parts on the
// stack, once for every kOutputs features, so that no scratch is needed.
#include <algorithm>

#include "kernels/backs/backs.h"
#include "kernels/backs/grouped_linear.h"
#include "kernels/checks/checks.h"
#include "kernels/quantization/dynamic_range.h"
#include "kernels/quantization/grouped_weight.h"
#include "kernels/walk/view.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("rushlight::dynamic_linear.out");
// Features computed together: a quantized part of the input serves all of them.
constexpr size_t kOutputs = 32;
constexpr size_t kPart = 64;
// The largest group whose integer sums fit in 32 bits: inputs minus their zero point have at most 255 in
// magnitude, weights 128.
constexpr size_t kMostProducts = INT32_MAX / (255 * 128);

Error check_and_plan(const Tensor& input, const Tensor& weight, const Tensor& scales,
                     const std::optional<Tensor>& bias, GroupedWeight* made, Shape* shape) {
  RL_TRY(plan_grouped_linear(kTypes, input, weight, scales, bias, made, shape));
  RL_CHECK(made->form.group <= kMostProducts, Error::InvalidArgument,
           "weight: expected at most %lu products in a group, got %lu",
           static_cast<unsigned long>(kMostProducts), static_cast<unsigned long>(made->form.group));
  return Error::Ok;
}

DynamicExtent extent_of(const float* from, ptrdiff_t step, size_t count) {
  DynamicExtent extent;
  for (size_t i = 0; i < count; ++i, from += step) extent.include(*from);
  return extent;
}

// The extent of all elements.
DynamicExtent extent_of(const Tensor& tensor) {
  return extent_of(tensor.const_data_ptr<float>(), 1, tensor.numel());
}

// Up to kOutputs features of one row. Quantizes a group of the input part by part. The result is
//
//   out = scale of the input * sum over groups of (scale of the group * integer sum) + bias
//
// with one multiplication by each scale. Zero points are subtracted from the inputs before they are
// multiplied, so no correction follows.
class Outputs {
 public:
  Outputs(const DynamicLinearProblem& problem, size_t first)
      : problem_(problem), first_(first), count_(std::min(kOutputs, problem.weight.features - first)) {}

  void compute(const float* input, ptrdiff_t step, const DynamicScale& scale, float* out,
               ptrdiff_t out_step) {
    const GroupedWeight& weight = problem_.weight;
    float totals[kOutputs] = {};
    for (size_t g = 0; g < weight.form.groups; ++g) {
      add_group(input, step, scale, g * weight.form.group);
      for (size_t j = 0; j < count_; ++j) {
        const float part = weight.scale(first_ + j, g) * static_cast<float>(sums_[j]);
        totals[j] = totals[j] + part;
      }
    }
    for (size_t j = 0; j < count_; ++j) {
      float result = totals[j] * scale.scale;
      if (problem_.bias != nullptr) result = result + problem_.bias[first_ + j];
      out[static_cast<ptrdiff_t>(first_ + j) * out_step] = result;
    }
  }

 private:
  void add_group(const float* input, ptrdiff_t step, const DynamicScale& scale, size_t begin) {
    for (int32_t& sum : sums_) sum = 0;
    int16_t numbers[kPart];
    const size_t end = begin + problem_.weight.form.group;
    for (size_t k = begin; k < end; k += kPart) {
      const size_t count = std::min(kPart, end - k);
      quantize_centered(problem_.range, scale, count, input + static_cast<ptrdiff_t>(k) * step, step,
                        numbers);
      for (size_t j = 0; j < count_; ++j) sums_[j] += product(numbers, count, first_ + j, k);
    }
  }

  [[nodiscard]] int32_t product(const int16_t* numbers, size_t count, size_t feature, size_t k) const {
    int32_t sum = 0;
    for (size_t i = 0; i < count; ++i) sum += numbers[i] * problem_.weight.number(feature, k + i);
    return sum;
  }

  const DynamicLinearProblem& problem_;
  size_t first_;
  size_t count_;
  int32_t sums_[kOutputs];
};

// Walks over the rows of input and output in any layout; only the last dimension is a row. Per tensor the
// range takes one pass over all elements first, per token one over each row.
void multiply(const DynamicLinearProblem& problem) {
  const size_t last = problem.input.sizes().size() - 1;
  const ptrdiff_t step = problem.input.strides()[last], out_step = problem.out.strides()[last];
  DynamicScale scale;
  if (!problem.per_token) scale = choose_scale(problem.range, extent_of(problem.input));
  if (problem.weight.features == 0) return;
  View source = View::of(problem.input), target = View::of(problem.out);
  PairedLoops(target.select(last, 0), source.select(last, 0))
      .for_each_span([&](char* to, const char* from, const auto& rows) {
        for (ptrdiff_t i = 0; i < rows.size; ++i, to += rows.target, from += rows.source) {
          const auto* input = reinterpret_cast<const float*>(from);
          auto* out = reinterpret_cast<float*>(to);
          if (problem.per_token) {
            scale = choose_scale(problem.range, extent_of(input, step, problem.weight.depth()));
          }
          for (size_t j = 0; j < problem.weight.features; j += kOutputs) {
            Outputs(problem, j).compute(input, step, scale, out, out_step);
          }
        }
      });
}

}  // namespace

// `mapping`, `low`, `high` and `least_scale` describe the range, see dynamic_range.h. A NaN in the input
// makes the results that depend on its range NaN.
Error dynamic_linear_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                         const Tensor& weight_scales, const std::optional<Tensor>& bias, bool per_token,
                         std::string_view mapping, int64_t low, int64_t high, double least_scale,
                         Tensor& out) {
  GroupedWeight made;
  Shape shape;
  DynamicRange range;
  RL_TRY(check_and_plan(input, weight, weight_scales, bias, &made, &shape));
  RL_TRY(make_dynamic_range(mapping, low, high, least_scale, &range));
  RL_TRY(check_same_dtype(input, out, "input and out"));
  RL_TRY(resize_out(out, shape.span()));
  const float* addend = bias ? bias->const_data_ptr<float>() : nullptr;
  const DynamicLinearProblem problem{{input, made, weight, weight_scales, addend, out}, range, per_token};
  return backs::dynamic_linear_out(context, problem, [&] {
    multiply(problem);
    return Error::Ok;
  });
}

Error dynamic_linear_out_prepare(KernelContext& context, const Tensor& input, const Tensor& weight,
                                 const Tensor& weight_scales, const std::optional<Tensor>& bias,
                                 bool per_token, std::string_view, int64_t, int64_t, double, Tensor& out) {
  GroupedWeight made;
  Shape shape;
  const Error checked = check_and_plan(input, weight, weight_scales, bias, &made, &shape);
  if (checked != Error::Ok || !has_sizes(out, shape.span())) return Error::Ok;  // left to the call
  const DynamicLinearProblem problem{{input, made, weight, weight_scales, nullptr, out}, {}, per_token};
  return backs::dynamic_linear_out_prepare(context, problem);
}

}  // namespace rushlight::kernels

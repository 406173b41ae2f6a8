// SPDX-License-Identifier: BSD-3-Clause
// A linear layer in float32 whose weight stays packed integers of 4 or 8 bits, or float16. Each block of an
// input row is quantized to integers with its own scale, and products are summed as integers within the
// block. Blocks are quantized anew for every panel of weights, which needs no scratch.
// kernels/ukernel/block_gemm.h defines the steps: each is rounded separately, so that backs give the same
// bits.
#include <algorithm>
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/backs/block_linear.h"
#include "kernels/checks/checks.h"
#include "kernels/checks/sizes.h"
#include "kernels/quantization/block_weight.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("rushlight::block_linear.out");
constexpr size_t kMostBlock = 32;

// A block of an input row in integers: q * scale, symmetric, halves to even. The scale is NaN if an element
// is not finite, which makes the results NaN, and 0 if the block is negligible.
struct QuantizedBlock {
  float scale = 0;
  int32_t sum = 0;
  int32_t q[kMostBlock] = {};

  QuantizedBlock(const ukernel::BlockForm& form, const float* row, size_t begin) {
    const size_t end = std::min(begin + form.block_depth(), form.depth);
    float most = 0;
    bool is_finite = true;
    for (size_t k = begin; k < end; ++k) {
      is_finite = is_finite && std::isfinite(row[k]);
      most = std::max(most, std::fabs(row[k]));
    }
    if (!is_finite) scale = __builtin_nanf("");
    if (!is_finite || most < ukernel::kBlockLeast) return;
    // One division for the block; elements are multiplied by the inverse.
    const auto limit = static_cast<float>(form.most());
    const float inverse = limit / most;
    scale = most / limit;
    for (size_t k = begin; k < end; ++k) {
      const float scaled = row[k] * inverse;
      sum += q[k - begin] = static_cast<int32_t>(std::nearbyint(scaled));
    }
  }
};

// The sums of a panel's features, added block by block. With zero the number that stands for 0 and l the
// block's elements, a feature of a block adds
//
//   scale * sum of (number - zero) l = scale * (sum of number * l - zero * sum of l)
//
// or, with minimums, scale * sum of number * l + minimum * sum of l. Integer sums are exact in 32 bits.
void multiply_panel(const BlockWeight& weight, const ukernel::BlockPanel& panel, const float* row,
                    float (&totals)[ukernel::kBlockFeatures]) {
  const ukernel::BlockForm& form = weight.form;
  std::fill(std::begin(totals), std::end(totals), 0.0F);
  for (size_t block = 0; block < form.blocks(); ++block) {
    const size_t begin = block * form.block_depth(), group = begin / form.group;
    const QuantizedBlock left(form, row, begin);
    const float left_sum = static_cast<float>(left.sum) * left.scale;
    for (size_t j = 0; j < ukernel::kBlockFeatures; ++j) {
      int32_t sum = form.has_minimum ? 0 : -form.zero() * left.sum;
      for (size_t k = 0; k < form.block_depth(); ++k) sum += panel.number(j, begin + k) * left.q[k];
      const float scale = weight.real(panel.scales(group), j) * left.scale;
      const float part = static_cast<float>(sum) * scale;
      totals[j] = totals[j] + part;
      if (!form.has_minimum) continue;
      const float rest = left_sum * weight.real(panel.minimums(group), j);
      totals[j] = totals[j] + rest;
    }
  }
}

// The same for float16 weights, with separate sums over even and odd k.
void multiply_halves(const BlockWeight& weight, size_t first, const float* row,
                     float (&totals)[ukernel::kBlockFeatures]) {
  for (size_t j = 0; j < ukernel::kBlockFeatures; ++j) {
    float even = 0, odd = 0;
    for (size_t k = 0; k < weight.form.depth; ++k) {
      const float product = row[k] * weight.half(first + j, k);
      if (k % 2 == 0) {
        even += product;
      } else {
        odd += product;
      }
    }
    totals[j] = even + odd;
  }
}

// input [rows, depth], out [rows, features], row-major. The last panel may be partial: only `count` of its
// features exist.
void multiply(const BlockLinearProblem& problem) {
  const BlockWeight& weight = problem.weight;
  for (size_t i = 0; i < problem.rows; ++i) {
    for (size_t p = 0; p < weight.panels(); ++p) {
      float totals[ukernel::kBlockFeatures];
      const float* row = problem.input + i * weight.form.depth;
      const size_t first = p * ukernel::kBlockFeatures;
      if (weight.is_half) {
        multiply_halves(weight, first, row, totals);
      } else {
        multiply_panel(weight, weight.panel(p), row, totals);
      }
      const size_t count = std::min(ukernel::kBlockFeatures, weight.features - first);
      for (size_t j = 0; j < count; ++j) {
        const size_t at = i * weight.features + first + j;
        float result = totals[j];
        if (problem.bias != nullptr) result = result + problem.bias[first + j];
        if (problem.residual != nullptr) result = result + problem.residual[at];
        problem.out[at] = result;
      }
    }
  }
}

Error check_floats(const Tensor& tensor, const char* name) {
  RL_CHECK(contains(kTypes & type_set(ScalarType::Float), tensor.scalar_type()), Error::InvalidType,
           "%s: expected dtype float32, got %s", name, to_string(tensor.scalar_type()));
  RL_CHECK(is_row_major(tensor.dim_order(), tensor.sizes()), Error::InvalidArgument,
           "%s: expected row-major order", name);
  return Error::Ok;
}

// Bias [features] and residual, of the result's shape, are added in float32 after the products.
Error check_addends(const std::optional<Tensor>& bias, const std::optional<Tensor>& residual,
                    const Shape& shape, size_t features) {
  if (bias) {
    RL_TRY(check_floats(*bias, "bias"));
    RL_CHECK(bias->dim() == 1 && bias->numel() == features, Error::InvalidArgument,
             "bias: expected %lu elements, got %lu in rank %d", log_number(features),
             log_number(bias->numel()), static_cast<int>(bias->dim()));
  }
  if (residual) {
    RL_TRY(check_floats(*residual, "residual"));
    RL_CHECK(has_sizes(*residual, shape.span()), Error::InvalidArgument,
             "residual: expected the shape of the result");
  }
  return Error::Ok;
}

// Checks shared by the call and its preparation. 8-bit activations make blocks narrow; float16 weights ignore
// the width.
Error check_and_plan(const Tensor& input, const Tensor& weight, const BlockArguments& arguments,
                     int64_t activation_bits, BlockWeight* made, Shape* shape) {
  RL_TRY(check_floats(input, "input"));
  RL_CHECK(activation_bits == 8 || activation_bits == 16, Error::InvalidArgument,
           "activation_bits: expected 8 or 16, got %ld", static_cast<long>(activation_bits));
  RL_TRY(make_block_weight(weight, arguments, made));
  made->form.is_narrow = !made->is_half && activation_bits == 8;
  *shape = Shape::of(input, 1);
  shape->push(static_cast<ptrdiff_t>(made->features));
  return Error::Ok;
}

// -1, which make_block_weight() refuses, for an input without dimensions.
int64_t depth_of(const Tensor& input) {
  return input.dim() == 0 ? -1 : input.sizes()[input.sizes().size() - 1];
}

}  // namespace

Error block_linear_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                       const std::optional<Tensor>& bias, const std::optional<Tensor>& residual,
                       int64_t features, int64_t bits, int64_t group, int64_t scales, bool has_minimum,
                       int64_t activation_bits, Tensor& out) {
  RL_CHECK(input.dim() >= 1, Error::InvalidArgument, "input: expected rank 1 at least, got 0");
  BlockWeight made;
  Shape shape;
  const BlockArguments arguments = {features, depth_of(input), bits, group, scales, has_minimum};
  RL_TRY(check_and_plan(input, weight, arguments, activation_bits, &made, &shape));
  RL_TRY(check_addends(bias, residual, shape, made.features));
  RL_TRY(check_floats(out, "out"));
  RL_TRY(resize_out(out, shape.span()));
  if (out.numel() == 0) return Error::Ok;
  const BlockLinearProblem problem = {made,
                                      out.numel() / made.features,
                                      input.const_data_ptr<float>(),
                                      bias ? bias->const_data_ptr<float>() : nullptr,
                                      residual ? residual->const_data_ptr<float>() : nullptr,
                                      out.mutable_data_ptr<float>()};
  return backs::block_linear_out(context, problem, [&] {
    multiply(problem);
    return Error::Ok;
  });
}

Error block_linear_out_prepare(KernelContext& context, const Tensor& input, const Tensor& weight,
                               const std::optional<Tensor>&, const std::optional<Tensor>&, int64_t features,
                               int64_t bits, int64_t group, int64_t scales, bool has_minimum,
                               int64_t activation_bits, Tensor& out) {
  if (input.dim() == 0) return Error::Ok;  // the call itself reports errors
  BlockWeight made;
  Shape shape;
  const BlockArguments arguments = {features, depth_of(input), bits, group, scales, has_minimum};
  // A problem without addresses: preparation needs the sizes only.
  const Error checked = check_and_plan(input, weight, arguments, activation_bits, &made, &shape);
  if (checked != Error::Ok || !has_sizes(out, shape.span()) || out.numel() == 0) return Error::Ok;
  const BlockLinearProblem problem = {made, out.numel() / made.features, nullptr, nullptr, nullptr, nullptr};
  return backs::block_linear_out_prepare(context, problem);
}

}  // namespace rushlight::kernels

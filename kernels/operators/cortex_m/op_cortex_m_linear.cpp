// SPDX-License-Identifier: BSD-3-Clause
// Linear layers of ExecuTorch's Cortex-M backend, in int8: input [..., depth], weights [features, depth], out
// [..., features], one scale for all features. The exporter writes one of two summands, by target: for Helium
// (MVE) kernel_sum, a bias that includes the part of the input offset; for other cores the plain bias. Every
// target here reads both.
#include "kernels/backs/backs.h"
#include "kernels/checks/overlap.h"
#include "kernels/checks/selection.h"
#include "kernels/quantization/folded_columns.h"
#include "kernels/quantization/integer_linear.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("cortex_m::quantized_linear.out") & type_set(ScalarType::Char);
constexpr int64_t kLargestFactor = 255;

Error check_single(Span<const int64_t> list, const char* name) {
  RL_CHECK(list.size() == 1, Error::InvalidArgument, "%s: expected one value for all features, got %lu", name,
           log_number(list.size()));
  return Error::Ok;
}

// A tensor of shape [1, features] or [features], viewed as one of rank 1.
class Flat {
 public:
  explicit Flat(const Tensor& tensor)
      : size_{static_cast<SizesType>(tensor.numel())},
        impl_(tensor.scalar_type(), 1, size_, tensor.impl()->mutable_data(), order_, stride_),
        tensor_(Tensor(&impl_)) {}
  Flat(const Flat&) = delete;
  Flat& operator=(const Flat&) = delete;

  [[nodiscard]] const std::optional<Tensor>& get() const { return tensor_; }

 private:
  SizesType size_[1];
  DimOrderType order_[1] = {0};
  StridesType stride_[1] = {1};
  TensorImpl impl_;
  std::optional<Tensor> tensor_;
};

// Sizes of a weight that plan_linear() has checked.
struct Sizes {
  size_t features;
  size_t depth;
};
Sizes sizes_of(const Tensor& weight) {
  return {static_cast<size_t>(weight.size(0)), static_cast<size_t>(weight.size(1))};
}

// kernel_sum is bounded first and then read again by the product, so `out` must not overwrite it.
Error check_kernel_sum(const Tensor& kernel_sum, size_t features, const Tensor& out) {
  RL_CHECK(kernel_sum.scalar_type() == ScalarType::Int && kernel_sum.numel() == features,
           Error::InvalidArgument, "kernel_sum: expected %lu elements of int32, got %lu of %s",
           log_number(features), log_number(kernel_sum.numel()), to_string(kernel_sum.scalar_type()));
  return check_no_overlap(kernel_sum, out, "kernel_sum");
}

}  // namespace

Error cortex_m_quantized_linear_out(KernelContext& context, const Tensor& input, const Tensor& weights,
                                    const std::optional<Tensor>& bias,
                                    const std::optional<Tensor>& kernel_sum, int64_t input_offset,
                                    int64_t filter_offset, int64_t output_offset,
                                    Span<const int64_t> multipliers, Span<const int64_t> shifts,
                                    int64_t activation_max, int64_t activation_min, Tensor& out) {
  int32_t input_zero_point = 0, weight_zero_point = 0;
  RL_TRY(read_offset(input_offset, "input_offset", &input_zero_point));
  RL_TRY(read_offset(filter_offset, "filter_offset", &weight_zero_point));
  RL_TRY(check_single(multipliers, "requantize_multipliers"));
  RL_TRY(check_single(shifts, "requantize_shifts"));
  ukernel::Requantization to;
  Shape shape;
  const std::optional<Tensor> none;
  RL_TRY(plan_linear({input, weights, none, out, weight_zero_point, to}, kTypes, &shape));
  RL_TRY(resize_out(out, shape.span()));
  const Sizes sizes = sizes_of(weights);
  FoldedColumns folded;
  // Scratch: an int32 for each feature unless the program has kernel_sum, and one scale.
  RL_TRY(folded.take(context, kernel_sum ? 0 : sizes.features, 1));
  if (kernel_sum) {
    RL_TRY(check_kernel_sum(*kernel_sum, sizes.features, out));
  } else {
    // With a weight zero point z, a column's sum of (w - z) is its sum of weights minus depth * z.
    RL_TRY(folded.fold(weights, 0, bias, -input_zero_point,
                       -int64_t{weight_zero_point} * static_cast<int64_t>(sizes.depth)));
  }
  RL_TRY(folded.set_scale(0, multipliers[0], shifts[0]));
  const Flat summed(kernel_sum ? *kernel_sum : *folded.bias());
  const QuantizedLinearProblem problem{{input, weights, summed.get(), out, weight_zero_point, to}};
  // A weight minus its zero point has 9 bits, without one 8.
  const int64_t largest = weight_zero_point == 0 ? kLargestProduct : kLargestFactor * kLargestFactor;
  RL_TRY(folded.prove(summed.get()->const_data_ptr<int32_t>(), sizes.features, sizes.depth, largest,
                      {output_offset, activation_min, activation_max}, &to));
  return backs::cortex_m_quantized_linear_out(context, problem, [&] { return multiply_integers(problem); });
}

Error cortex_m_quantized_linear_out_prepare(KernelContext& context, const Tensor& input,
                                            const Tensor& weights, const std::optional<Tensor>&,
                                            const std::optional<Tensor>& kernel_sum, int64_t, int64_t,
                                            int64_t, Span<const int64_t>, Span<const int64_t>, int64_t,
                                            int64_t, Tensor& out) {
  const ukernel::Requantization to;
  const std::optional<Tensor> none;
  const QuantizedLinearProblem problem{{input, weights, none, out, 0, to}};
  Shape shape;
  if (plan_linear(problem, kTypes, &shape) != Error::Ok) return Error::Ok;  // the call itself reports errors
  context.need_besides(FoldedColumns::bytes(kernel_sum ? 0 : sizes_of(weights).features, 1));
  if (!has_sizes(out, shape.span())) return Error::Ok;
  return backs::cortex_m_quantized_linear_out_prepare(context, problem);
}

}  // namespace rushlight::kernels

// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/convolution.h"
#include "kernels/optimized/convolution_ways.h"
#include "kernels/optimized/fallback.h"
#include "kernels/shared/activation.h"
#include "kernels/shared/convolution.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error convolution_act_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                          const std::optional<Tensor>& bias, Span<const int64_t> stride,
                          Span<const int64_t> padding, Span<const int64_t> dilation, bool transposed,
                          Span<const int64_t> output_padding, int64_t groups,
                          const std::optional<Tensor>& residual, std::string_view activation, double low,
                          double high, Tensor& out);
Error convolution_act_clamp_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                                const std::optional<Tensor>& bias, Span<const int64_t> stride,
                                Span<const int64_t> padding, Span<const int64_t> dilation, bool transposed,
                                Span<const int64_t> output_padding, int64_t groups,
                                const std::optional<Tensor>& residual, double low, double high, Tensor& out);

namespace optimized {

namespace {

// Whether both, of one shape, lie in memory alike.
bool lie_alike(const Tensor& a, const Tensor& b) {
  for (size_t d = 0; d < a.sizes().size(); ++d) {
    if (a.sizes()[d] > 1 && a.strides()[d] != b.strides()[d]) return false;
  }
  return true;
}

Error compute(KernelContext& context, const Tensor& input, const Tensor& weight,
              const std::optional<Tensor>& bias, const ConvolutionArguments& arguments,
              const std::optional<Tensor>& residual, const Activation& last, Tensor& out) {
  Shape shape;
  RL_TRY(convolution_shape(input, weight, bias, arguments, &shape));
  RL_TRY(check_residual(residual, input, shape.span()));
  RL_TRY(resize_out(out, shape.span()));
  Convolution convolution = make_convolution(input, weight, bias, arguments, out);
  // What else the sums of a tile become is done while they are at hand.
  const bool fused = !residual || lie_alike(*residual, out);
  if (fused) {
    if (residual) convolution.residual = residual->const_data_ptr<float>();
    if (last.kind == ActivationKind::kClamp) {
      convolution.low = static_cast<float>(last.low);
      convolution.high = static_cast<float>(last.high);
    } else {
      convolution.activation = last;
    }
  }
  const bool done = convolve(context, convolution);
  if (!done) RL_TRY(kernels::convolve(input, weight, bias, arguments, out));
  if (!done || !fused) add_and_activate(residual, last, out);
  return Error::Ok;
}

void prepare(KernelContext& context, const Tensor& input, const Tensor& weight,
             const std::optional<Tensor>& bias, const ConvolutionArguments& arguments, Tensor& out) {
  if (can_prepare(input, weight, bias, arguments, out)) {
    prepare_convolution(context, make_convolution(input, weight, bias, arguments, out), is_constant(weight));
  }
}

}  // namespace

Error convolution_act_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                          const std::optional<Tensor>& bias, Span<const int64_t> stride,
                          Span<const int64_t> padding, Span<const int64_t> dilation, bool transposed,
                          Span<const int64_t> output_padding, int64_t groups,
                          const std::optional<Tensor>& residual, std::string_view activation, double low,
                          double high, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("rushlight::convolution_act.out");
  if (!all_of(kTypes, input, weight, out)) {
    RL_FALL_BACK("rushlight::convolution_act.out", convolution_act_out, context, input, weight, bias, stride,
                 padding, dilation, transposed, output_padding, groups, residual, activation, low, high, out);
  }
  Activation last;
  RL_TRY(make_activation(activation, low, high, &last));
  const ConvolutionArguments arguments{stride, padding, dilation, transposed, output_padding, groups};
  return compute(context, input, weight, bias, arguments, residual, last, out);
}

Error convolution_act_clamp_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                                const std::optional<Tensor>& bias, Span<const int64_t> stride,
                                Span<const int64_t> padding, Span<const int64_t> dilation, bool transposed,
                                Span<const int64_t> output_padding, int64_t groups,
                                const std::optional<Tensor>& residual, double low, double high, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("rushlight::convolution_act.clamp_out");
  if (!all_of(kTypes, input, weight, out)) {
    RL_FALL_BACK("rushlight::convolution_act.clamp_out", convolution_act_clamp_out, context, input, weight,
                 bias, stride, padding, dilation, transposed, output_padding, groups, residual, low, high,
                 out);
  }
  const ConvolutionArguments arguments{stride, padding, dilation, transposed, output_padding, groups};
  return compute(context, input, weight, bias, arguments, residual, make_clamp(low, high), out);
}

Error convolution_act_out_prepare(KernelContext& context, const Tensor& input, const Tensor& weight,
                                  const std::optional<Tensor>& bias, Span<const int64_t> stride,
                                  Span<const int64_t> padding, Span<const int64_t> dilation, bool transposed,
                                  Span<const int64_t> output_padding, int64_t groups,
                                  const std::optional<Tensor>&, std::string_view, double, double,
                                  Tensor& out) {
  prepare(context, input, weight, bias, {stride, padding, dilation, transposed, output_padding, groups}, out);
  return Error::Ok;
}

Error convolution_act_clamp_out_prepare(KernelContext& context, const Tensor& input, const Tensor& weight,
                                        const std::optional<Tensor>& bias, Span<const int64_t> stride,
                                        Span<const int64_t> padding, Span<const int64_t> dilation,
                                        bool transposed, Span<const int64_t> output_padding, int64_t groups,
                                        const std::optional<Tensor>&, double, double, Tensor& out) {
  prepare(context, input, weight, bias, {stride, padding, dilation, transposed, output_padding, groups}, out);
  return Error::Ok;
}

}  // namespace optimized

}  // namespace rushlight::kernels

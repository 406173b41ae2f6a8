// SPDX-License-Identifier: BSD-3-Clause
// Problems of convolutions, and their backs. convolution_shape() has checked the tensors: they have one
// dtype, and `out` has the shape that it computes. Inputs are [N, C, spatial...] in any dim order, with one
// to three spatial dimensions.
#pragma once

#include <optional>

#include "kernels/geometry/convolution_shape.h"
#include "kernels/matmul/activation.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out = input * weight + bias, where * is the (possibly transposed, grouped) convolution: a
// cross-correlation, as in PyTorch. The weight is [O, C / groups, taps...], transposed [C, O / groups,
// taps...], and the bias [O].
struct ConvolutionProblem {
  static constexpr bool kDtypeIsSelected = true;

  const Tensor& input;
  const Tensor& weight;
  const std::optional<Tensor>& bias;
  ConvolutionArguments arguments;
  const Tensor& out;

  [[nodiscard]] ScalarType type() const { return input.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

// out = activation(input * weight + bias + residual). The activation is not read when preparing. The residual
// has the shape and dtype of `out`, in any layout.
struct ConvolutionActProblem : ConvolutionProblem {
  const std::optional<Tensor>& residual;
  Activation activation;
};

namespace host {

// convolution.cpp and convolution_act.cpp: float32, float64, and 16-bit floats in float32. They decline if
// scratch memory is too small. Prepare functions pack constant weights in the layout of the method that the
// shapes select, see kernels/host/convolution.h.
std::optional<Error> convolution(KernelContext& context, const ConvolutionProblem& problem);
Error convolution_prepare(KernelContext& context, const ConvolutionProblem& problem);
std::optional<Error> convolution_act(KernelContext& context, const ConvolutionActProblem& problem);
Error convolution_act_prepare(KernelContext& context, const ConvolutionActProblem& problem);

}  // namespace host

namespace board {

// convolution.cpp and convolution_act.cpp: float32 and float16, with the weights as stored. Need no scratch
// memory; never fail.
Error convolution(KernelContext& context, const ConvolutionProblem& problem);
Error convolution_act(KernelContext& context, const ConvolutionActProblem& problem);
Error convolution_act_clamp(KernelContext& context, const ConvolutionActProblem& problem);  // clamp or none

}  // namespace board

}  // namespace rushlight::kernels

// SPDX-License-Identifier: BSD-3-Clause
// Problems of convolutions, and their backs. convolution_shape() checked the tensors, which have one dtype,
// and `out` has the shape that it gives.
#pragma once

#include <optional>

#include "kernels/geometry/convolution_shape.h"
#include "kernels/matmul/activation.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out = input * weight + bias
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

// out = activation(input * weight + bias + residual). To prepare, the activation may be left out.
struct ConvolutionActProblem : ConvolutionProblem {
  const std::optional<Tensor>& residual;
  Activation activation;
};

namespace host {

// convolution.cpp and convolution_act.cpp: float32. They decline when there is too little scratch memory.
std::optional<Error> convolution(KernelContext& context, const ConvolutionProblem& problem);
Error convolution_prepare(KernelContext& context, const ConvolutionProblem& problem);
std::optional<Error> convolution_act(KernelContext& context, const ConvolutionActProblem& problem);
Error convolution_act_prepare(KernelContext& context, const ConvolutionActProblem& problem);

}  // namespace host

namespace board {

// convolution.cpp and convolution_act.cpp: float32. Errors: none.
Error convolution(KernelContext& context, const ConvolutionProblem& problem);
Error convolution_act(KernelContext& context, const ConvolutionActProblem& problem);
Error convolution_act_clamp(KernelContext& context, const ConvolutionActProblem& problem);  // clamp or none

}  // namespace board

}  // namespace rushlight::kernels

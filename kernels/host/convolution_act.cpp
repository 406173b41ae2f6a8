// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/host/activate.h"
#include "kernels/host/convolution.h"
#include "kernels/host/elements.h"
#include "kernels/matmul/activation.h"

namespace rushlight::kernels::host {

namespace {

// True if two tensors of one shape have the same strides. The strides of dimensions of size 1 do not matter.
bool has_equal_strides(const Tensor& a, const Tensor& b) {
  for (size_t d = 0; d < a.sizes().size(); ++d) {
    if (a.sizes()[d] > 1 && a.strides()[d] != b.strides()[d]) return false;
  }
  return true;
}

}  // namespace

std::optional<Error> convolution_act(KernelContext& context, const ConvolutionActProblem& problem) {
  const Activation& last = problem.activation;
  Convolution sums = make_convolution(problem);
  const bool is_clamp = last.kind == ActivationKind::kNone || last.kind == ActivationKind::kClamp;
  if (!kReachesActivations && !is_clamp) return not_selected("convolution_act");
  // Fuses residual and activation into each tile while its sums are in registers.
  const bool fused =
      !is_double(problem.type()) && (!problem.residual || has_equal_strides(*problem.residual, problem.out));
  const Tensor* residual = fused && problem.residual ? &*problem.residual : nullptr;
  if (residual != nullptr) sums.residual = residual->const_data_ptr<float>();
  if (fused && last.kind == ActivationKind::kClamp) {
    sums.low = static_cast<float>(last.low);
    sums.high = static_cast<float>(last.high);
  } else if (fused) {
    sums.activation = last;
  }
  const std::optional<Error> convolved = convolve(context, problem, sums, residual);
  if (convolved != Error::Ok) return convolved;
  // Another layout of the residual, and float64, need a second pass over the result.
  if (!fused) add_and_activate(problem.residual, last, problem.out);
  return Error::Ok;
}

Error convolution_act_prepare(KernelContext& context, const ConvolutionActProblem& problem) {
  prepare_convolution(context, problem, problem.residual.has_value());
  return Error::Ok;
}

}  // namespace rushlight::kernels::host

// SPDX-License-Identifier: BSD-3-Clause
// A float32 copy has the element strides of its tensor, so that only the addresses of a convolution change.
#include "kernels/host/convolution/widened.h"

#include "kernels/host/convolution/algorithm.h"
#include "kernels/host/elements.h"

namespace rushlight::kernels::host {

namespace {

// Floats of a call besides the weight.
size_t call_floats(const ConvolutionProblem& problem, bool residual) {
  const size_t bias = problem.bias ? padded_floats(problem.bias->numel()) : 0;
  return padded_floats(problem.input.numel()) + (residual ? 2 : 1) * padded_floats(problem.out.numel()) +
         bias;
}

}  // namespace

void prepare_widened(KernelContext& context, const ConvolutionProblem& problem, bool residual) {
  const Tensor& weight = problem.weight;
  const bool is_constant = weight.impl()->storage() == Storage::Constant;
  const size_t floats = call_floats(problem, residual) + (is_constant ? 0 : padded_floats(weight.numel()));
  context.need_besides(floats * sizeof(float) + 64);
  const WidenedWeight widened{weight.const_data_ptr(), weight.scalar_type(), weight.numel()};
  prepare_convolution(context, make_convolution(problem), is_constant, widened);
}

std::optional<Error> convolve_widened(KernelContext& context, const ConvolutionProblem& problem,
                                      Convolution convolution, const Tensor* residual) {
  const float* prepared = prepared_weight(context);
  const size_t floats = call_floats(problem, residual != nullptr) +
                        (prepared == nullptr ? padded_floats(problem.weight.numel()) : 0);
  FloatBuffers buffers(context, floats);
  if (buffers.empty()) return std::nullopt;
  convolution.input = buffers.load(problem.input);
  convolution.weight = prepared == nullptr ? buffers.load(problem.weight) : prepared;
  if (problem.bias) convolution.bias = buffers.load(*problem.bias);
  if (residual != nullptr) convolution.residual = buffers.load(*residual);
  convolution.out = buffers.take(problem.out.numel());
  const std::optional<Error> convolved = convolve(context, convolution);
  if (convolved != Error::Ok) return convolved;
  store_tensor(context, problem.out, convolution.out);
  return Error::Ok;
}

}  // namespace rushlight::kernels::host

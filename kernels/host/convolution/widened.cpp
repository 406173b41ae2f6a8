// SPDX-License-Identifier: BSD-3-Clause
// A float32 copy has the element strides of its tensor, so that only the addresses of a convolution change.
#include "kernels/host/convolution/widened.h"

#include "kernels/host/convolution/algorithm.h"
#include "kernels/host/elements.h"

namespace rushlight::kernels::host {

namespace {

size_t floats_of(const Tensor& tensor) { return padded_floats(tensor.numel()); }

// Floats of a call besides the weight.
size_t call_floats(const ConvolutionProblem& problem, bool residual) {
  const size_t bias = problem.bias ? floats_of(*problem.bias) : 0;
  return floats_of(problem.input) + (residual ? 2 : 1) * floats_of(problem.out) + bias;
}

// The buffers of a call, one after the other.
class Buffers {
 public:
  Buffers(KernelContext& context, size_t floats)
      : context_(context), next_(static_cast<float*>(context.allocate_temp(floats * sizeof(float), 64))) {}

  [[nodiscard]] bool empty() const { return next_ == nullptr; }
  float* take(const Tensor& tensor) {
    float* taken = next_;
    next_ += floats_of(tensor);
    return taken;
  }
  const float* load(const Tensor& tensor) {
    float* taken = take(tensor);
    load_tensor(context_, taken, tensor);
    return taken;
  }

 private:
  KernelContext& context_;
  float* next_;
};

}  // namespace

void prepare_widened(KernelContext& context, const ConvolutionProblem& problem, bool residual) {
  const Tensor& weight = problem.weight;
  const bool is_constant = weight.impl()->storage() == Storage::Constant;
  const size_t floats = call_floats(problem, residual) + (is_constant ? 0 : floats_of(weight));
  context.need_besides(floats * sizeof(float) + 64);
  const WidenedWeight widened{weight.const_data_ptr(), weight.scalar_type(), weight.numel()};
  prepare_convolution(context, make_convolution(problem), is_constant, widened);
}

std::optional<Error> convolve_widened(KernelContext& context, const ConvolutionProblem& problem,
                                      Convolution convolution, const Tensor* residual) {
  const float* prepared = prepared_weight(context);
  const size_t floats =
      call_floats(problem, residual != nullptr) + (prepared == nullptr ? floats_of(problem.weight) : 0);
  Buffers buffers(context, floats);
  if (buffers.empty()) return std::nullopt;
  convolution.input = buffers.load(problem.input);
  convolution.weight = prepared == nullptr ? buffers.load(problem.weight) : prepared;
  if (problem.bias) convolution.bias = buffers.load(*problem.bias);
  if (residual != nullptr) convolution.residual = buffers.load(*residual);
  convolution.out = buffers.take(problem.out);
  const std::optional<Error> convolved = convolve(context, convolution);
  if (convolved != Error::Ok) return convolved;
  store_tensor(context, problem.out, convolution.out);
  return Error::Ok;
}

}  // namespace rushlight::kernels::host

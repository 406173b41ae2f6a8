// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/runtime/kernel/kernel_includes.h>

// A namespace that rushlight's own kernels have, too.
namespace custom::kernels::native {

using executorch::aten::Tensor;
using executorch::runtime::KernelRuntimeContext;

Tensor& mul3_out_impl(ET_UNUSED KernelRuntimeContext& context, const Tensor& input, Tensor& output) {
  ET_CHECK_MSG(output.numel() == input.numel(), "%zd elements expected", ssize_t(input.numel()));
  for (ssize_t i = 0; i < input.numel(); ++i) {
    output.mutable_data_ptr<float>()[i] = input.const_data_ptr<float>()[i] * 3;
  }
  return output;
}

// Tells that it is not rushlight's: it adds 100.
Tensor& relu_out_impl(KernelRuntimeContext&, const Tensor& input, Tensor& output) {
  for (ssize_t i = 0; i < input.numel(); ++i) {
    const float value = input.const_data_ptr<float>()[i];
    output.mutable_data_ptr<float>()[i] = (value > 0 ? value : 0) + 100;
  }
  return output;
}

}  // namespace custom::kernels::native

// SPDX-License-Identifier: BSD-3-Clause
// A comparison operator that ExecuTorch's kernels define for tests only.
#pragma once

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

namespace torch::executor::native {

// Stores in the single element of `out`, a bool, if |self - other| <= atol + rtol * |other| holds for all
// elements; integers and bool must be equal. Equal infinities are close; NaN is close to NaN only if
// `equal_nan`. The tensors must have the same dtype (real, Half, BFloat16 or bool), shape and strides. On a
// mismatch fails the context with InvalidArgument, or aborts without one.
executorch::aten::Tensor& allclose_out(executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext& context,
                                       const executorch::aten::Tensor& self,
                                       const executorch::aten::Tensor& other, double rtol, double atol,
                                       bool equal_nan, bool dummy_param, executorch::aten::Tensor& out);
executorch::aten::Tensor& allclose_out(const executorch::aten::Tensor& self,
                                       const executorch::aten::Tensor& other, double rtol, double atol,
                                       bool equal_nan, bool dummy_param, executorch::aten::Tensor& out);

}  // namespace torch::executor::native

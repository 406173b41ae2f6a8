// SPDX-License-Identifier: BSD-3-Clause
// A function that ExecuTorch's kernels have for tests, and no program calls.
#pragma once

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

namespace torch::executor::native {

// Whether every |self - other| <= atol + rtol * |other|, exactly for integers and bool, into the one element
// of `out`. Tensors of one shape and dtype. Fails the context, or aborts without one.
executorch::aten::Tensor& allclose_out(executorch::runtime::KernelRuntimeContext& context,
                                       const executorch::aten::Tensor& self,
                                       const executorch::aten::Tensor& other, double rtol, double atol,
                                       bool equal_nan, bool dummy_param, executorch::aten::Tensor& out);
executorch::aten::Tensor& allclose_out(const executorch::aten::Tensor& self,
                                       const executorch::aten::Tensor& other, double rtol, double atol,
                                       bool equal_nan, bool dummy_param, executorch::aten::Tensor& out);

}  // namespace torch::executor::native

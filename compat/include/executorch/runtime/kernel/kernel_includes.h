// SPDX-License-Identifier: BSD-3-Clause
// The header that kernels include: tensors, dtype dispatch, checks and the context. A kernel has the official
// signature, and reports a failure by its context instead of its result:
//
//   Tensor& my_add_out(KernelRuntimeContext& context, const Tensor& a, const Tensor& b, Tensor& out) {
//     ET_KERNEL_CHECK(context, tensors_have_same_shape(a, b), InvalidArgument, out);
//     ET_KERNEL_CHECK(context, resize_tensor(out, a.sizes()) == Error::Ok, InvalidArgument, out);
//     ...
//     return out;
//   }
#pragma once

#include <cstddef>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

// The type of an operator's name as a template argument: a pointer to characters in static storage.
// ExecuTorch passes the characters by value where C++20 permits; code that uses these macros compiles with
// either. ET_DEFINE_OPERATOR_NAME declares such characters at namespace or class scope.
#define ET_USE_STRUCTURAL_OPERATOR_NAME 0
#define ET_OPERATOR_NAME_TYPE const char*
#define ET_DEFINE_OPERATOR_NAME(variable, name) static constexpr const char variable[] = name

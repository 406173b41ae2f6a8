// SPDX-License-Identifier: BSD-3-Clause
// Softmax of float32, or of 16-bit floats computed in that, along any dimension: runs where the lanes'
// elements follow each other, otherwise columns side by side.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels::optimized {

// What kernels/ukernel/softmax.h has of each.
struct SoftmaxFunctions {
  void (*run)(size_t n, const float* x, float* y);
  void (*rows)(size_t rows, ptrdiff_t x_stride, ptrdiff_t y_stride, size_t n, const float* x, float* y);
  bool logarithm;
};

// Both tensors are of one dtype: float32, float16 or bfloat16. Errors: InvalidArgument (dim; the shape of
// out).
Error softmax_along(KernelContext& context, const SoftmaxFunctions& functions, const Tensor& self,
                    int64_t dim, const Tensor& out);

}  // namespace rushlight::kernels::optimized

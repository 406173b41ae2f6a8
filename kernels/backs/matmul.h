// SPDX-License-Identifier: BSD-3-Clause
// Problems of matrix products, and their backs.
#pragma once

#include <cstddef>

#include "kernels/matmul/matmul.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// One product. To prepare, its bias and factors may be left out.
struct ProductProblem {
  static constexpr bool kDtypeIsSelected = true;

  const Product& product;
  const Tensor& b;  // the tensor of product.b

  [[nodiscard]] ScalarType type() const { return product.type; }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

// The products of matrices of tensors of rank 3. To prepare, the bias and factors may be left out.
struct BatchProblem {
  const Product& first;  // its `out` is not set
  const Tensor& a;
  const Tensor& b;
  const Tensor& out;
  const Tensor* bias = nullptr;  // of any rank up to 3, or null

  [[nodiscard]] ScalarType type() const { return first.type; }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

namespace host {

// matmul.cpp: float32, float16 and bfloat16. Errors: MemoryAllocationFailed.
Error matmul(KernelContext& context, const ProductProblem& problem);
Error matmul_prepare(KernelContext& context, const ProductProblem& problem);
Error batch_matmul(KernelContext& context, const BatchProblem& problem);
Error batch_matmul_prepare(KernelContext& context, const BatchProblem& problem);

}  // namespace host

namespace board {

Error matmul(KernelContext& context, const ProductProblem& problem);

}  // namespace board

}  // namespace rushlight::kernels

// SPDX-License-Identifier: BSD-3-Clause
// Problems of matrix products, and their backs. plan_product() has checked the matrices: strides may be any,
// so a transposed factor needs no copy.
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/matmul/matmul.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// One product, out = alpha * a b + beta * bias, of a [rows, depth] and b [depth, columns]. Bias and factors
// are not read when preparing.
struct ProductProblem {
  static constexpr bool kDtypeIsSelected = true;

  const Product& product;
  const Tensor& b;  // the tensor that product.b points into

  [[nodiscard]] ScalarType type() const { return product.type; }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

// One product for each matrix of tensors of rank 3: a [batch, rows, depth], b [batch, depth, columns], out
// [batch, rows, columns]. Bias and factors are not read when preparing.
struct BatchProblem {
  const Product& first;  // the product of the first matrices; its `out` is not set, except for batch_sum()
  const Tensor& a;
  const Tensor& b;
  const Tensor& out;
  // The bias broadcasts to the batch of results; without a batch dimension it is the same for all products.
  const Tensor* bias = nullptr;  // rank at most 3, or null

  [[nodiscard]] ScalarType type() const { return first.type; }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

namespace host {

// matmul.cpp: floating and complex dtypes. The prepare functions pack `b` if it is constant.
// Errors: MemoryAllocationFailed.
Error matmul(KernelContext& context, const ProductProblem& problem);
Error matmul_prepare(KernelContext& context, const ProductProblem& problem);
// Products with one row or column, which need scratch memory in rare layouts only; declined without it.
std::optional<Error> vector_product(KernelContext& context, const ProductProblem& problem);
Error batch_matmul(KernelContext& context, const BatchProblem& problem);
Error batch_matmul_prepare(KernelContext& context, const BatchProblem& problem);
// out = beta * bias + alpha * (the sum of the batch's products); `first` has the matrices of out and bias.
// The batch is not empty. Declined without scratch memory.
std::optional<Error> batch_sum(KernelContext& context, const BatchProblem& problem);

}  // namespace host

namespace board {

// matmul.cpp: float32 and float16, without packing. Need no scratch memory; never fail.
Error matmul(KernelContext& context, const ProductProblem& problem);
Error batch_matmul(KernelContext& context, const BatchProblem& problem);

}  // namespace board

}  // namespace rushlight::kernels

// SPDX-License-Identifier: BSD-3-Clause
// Products of matrices in float, of elements of float, half or bfloat16: behind mm, bmm, addmm, linear and
// their like. Sums are held in float to their end, and do not depend on the number of threads.
#pragma once

#include <cstddef>

#include "kernels/matmul/activation.h"
#include "kernels/matmul/matmul.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels::host {

// out = activation(alpha * a b + beta * bias + residual). A residual whose data is null is left out; `bias`
// with beta 0, and `a` and `b` with alpha 0 are not looked at.
struct Gemm : ProductMatrices {
  Gemm() = default;
  explicit Gemm(const Product& product);

  Matrix residual;
  float alpha = 1.0f;
  float beta = 1.0f;
  Activation activation;
  const float* packed_b = nullptr;  // of pack_b, or null
};

// Bytes of `b` in panels, and the panels: `to` is 64 bytes aligned.
[[nodiscard]] size_t packed_bytes(size_t depth, size_t columns);
void pack_b(float* to, ScalarType type, const Matrix& b, size_t depth, size_t columns);

// For prepare functions: says what scratch memory the product takes, and packs `b` where that is the constant
// `weight`.
void prepare(KernelContext& context, const Gemm& gemm);
void prepare(KernelContext& context, const Gemm& gemm, const Tensor& weight);

// Bytes of scratch memory, 64 bytes aligned, that multiply() uses for this product, which may have no data
// yet. Without it products of float are slower, others MemoryAllocationFailed.
[[nodiscard]] size_t scratch_bytes(const Gemm& gemm);
// Whether `b` is packed then or not.
[[nodiscard]] size_t most_scratch_bytes(const Gemm& gemm);
// Memory for them; null when none are needed or there is not enough.
[[nodiscard]] void* take_scratch(KernelContext& context, const Gemm& gemm);

[[nodiscard]] Error multiply(KernelContext& context, const Gemm& gemm, void* scratch);
[[nodiscard]] Error multiply(KernelContext& context, const Gemm& gemm);

// So many products, each of which lies the strides, in elements, behind the one before.
struct Batch {
  // Of tensors of rank 3; no bias.
  Batch(const Tensor& a, const Tensor& b, const Tensor& out);

  size_t count = 1;
  ptrdiff_t a = 0;
  ptrdiff_t b = 0;
  ptrdiff_t out = 0;
  ptrdiff_t bias = 0;
};
[[nodiscard]] Error multiply(KernelContext& context, const Gemm& first, const Batch& batch);

}  // namespace rushlight::kernels::host

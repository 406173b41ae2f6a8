// SPDX-License-Identifier: BSD-3-Clause
// Products of constant right factors use the panels that prepare() packed at load. Batches pack at run time,
// if at all.
#include "kernels/backs/matmul.h"

#include "kernels/host/gemm.h"

namespace rushlight::kernels::host {

namespace {

Gemm first_of(const BatchProblem& problem) {
  Gemm gemm(problem.first);
  gemm.out = Matrix::of(problem.out);
  return gemm;
}

}  // namespace

Error matmul(KernelContext& context, const ProductProblem& problem) {
  Gemm gemm(problem.product);
  gemm.packed_b = context.prepared();
  return multiply(context, gemm);
}

Error matmul_prepare(KernelContext& context, const ProductProblem& problem) {
  prepare(context, Gemm(problem.product), problem.b);
  return Error::Ok;
}

std::optional<Error> vector_product(KernelContext& context, const ProductProblem& problem) {
  const Gemm gemm(problem.product);
  void* scratch = take_scratch(context, gemm);
  if (scratch == nullptr && scratch_bytes(gemm) != 0) return std::nullopt;
  return multiply(context, gemm, scratch);
}

Error batch_matmul(KernelContext& context, const BatchProblem& problem) {
  Batch batch(problem.a, problem.b, problem.out);
  const Tensor* bias = problem.bias;
  // A bias without a batch, or of batch 1, is the same for all products.
  if (bias != nullptr && bias->dim() == 3 && bias->size(0) != 1) batch.bias = bias->strides()[0];
  return multiply(context, first_of(problem), batch);
}

Error batch_matmul_prepare(KernelContext& context, const BatchProblem& problem) {
  const Gemm first = first_of(problem);
  prepare(context, first);
  context.need_products(problem.out.numel() * first.depth);
  return Error::Ok;
}

}  // namespace rushlight::kernels::host

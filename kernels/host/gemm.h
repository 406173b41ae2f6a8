// SPDX-License-Identifier: BSD-3-Clause
// Matrix products for mm, bmm, addmm, linear and the like: with sums in float32 of float32, float16 and
// bfloat16 elements, in float64 of float64. Sums are not rounded until they are stored, and do
// not depend on the number of threads.
#pragma once

#include <cstddef>

#include "kernels/checks/selection.h"
#include "kernels/matmul/activation.h"
#include "kernels/matmul/matmul.h"
#include "kernels/ukernel/gemm_bf16.h"
#include "kernels/ukernel/gemm_f16.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels::host {

// out = activation(alpha * a b + beta * bias + residual). A matrix whose data is null is left out, and the
// bias may be `out` itself. With beta 0 `bias` is not read, and with alpha 0 `a` and `b` are not, so NaN in
// them does not propagate.
struct Gemm : ProductMatrices {
  Gemm() = default;
  explicit Gemm(const Product& product);

  Matrix residual;
  double alpha = 1;
  double beta = 1;
  Activation activation;           // float64: a clamp or none
  const void* packed_b = nullptr;  // result of pack_b(), or null
};

// packed_bytes(): size of `b` in panels of gemm_columns() columns, padded. pack_b(): writes the panels to
// `to`, which is aligned to 64 bytes, in the dtype of the arithmetic: [panel][depth][gemm_columns()].
[[nodiscard]] size_t packed_bytes(ScalarType type, size_t depth, size_t columns);
void pack_b(KernelContext& context, void* to, ScalarType type, const Matrix& b, size_t depth, size_t columns);

// For prepare functions: request the scratch memory of the product. With `weight`, the tensor of `b`, also
// pack `b` at load if that tensor is constant.
void prepare(KernelContext& context, const Gemm& gemm);
void prepare(KernelContext& context, const Gemm& gemm, const Tensor& weight);

// The dtypes of 16 bits that the build selects and for which one of its variants has products.
inline constexpr TypeSet kNarrowTypes =
    kAnySelectedType & ((ukernel::kMayHaveBf16 ? type_set(ScalarType::BFloat16) : TypeSet{}) |
                        (ukernel::kMayHaveF16 ? type_set(ScalarType::Half) : TypeSet{}));
// The products that an instruction of the processor computes for each of float32: 1 if only conversions are
// saved, 0 if the dtype is converted.
[[nodiscard]] size_t narrow_products(ScalarType type);

// Bytes of scratch memory, aligned to 64, that multiply() uses for this product; its matrices may have no
// data yet. Without scratch memory float32 products are slower; products of other dtypes, and
// some with a strided result, fail with MemoryAllocationFailed.
[[nodiscard]] size_t scratch_bytes(const Gemm& gemm);
// The same, whether or not `b` gets packed at load.
[[nodiscard]] size_t most_scratch_bytes(const Gemm& gemm);
// The same for the products of a batch: small ones pack on the stack, so that each is of one thread.
[[nodiscard]] size_t batch_scratch_bytes(const Gemm& first);
// Allocates scratch_bytes(); null if that is 0 or memory is exhausted.
[[nodiscard]] void* take_scratch(KernelContext& context, const Gemm& gemm);

// Computes the product, on the threads of the context. Errors: MemoryAllocationFailed, see scratch_bytes().
// The second overload takes the scratch memory itself.
[[nodiscard]] Error multiply(KernelContext& context, const Gemm& gemm, void* scratch);
[[nodiscard]] Error multiply(KernelContext& context, const Gemm& gemm);
// On the calling thread alone, with scratch memory: cannot fail.
void multiply_serially(const Gemm& gemm, void* scratch);

// `count` products; the strides, in elements, lead from one to the next.
struct Batch {
  // The batch of tensors of rank 3; the bias is the same for all products.
  Batch(const Tensor& a, const Tensor& b, const Tensor& out);

  // The strides of the first product's matrices from batch element to element; 0 repeats a matrix.
  size_t count = 1;
  ptrdiff_t a = 0;
  ptrdiff_t b = 0;
  ptrdiff_t out = 0;
  ptrdiff_t bias = 0;
};
// Computes a batch: small products in parallel, each on one thread; others one after the other. `first` is
// the first product; its strides hold for all. Takes scratch memory itself. Errors: MemoryAllocationFailed.
[[nodiscard]] Error multiply(KernelContext& context, const Gemm& first, const Batch& batch);

}  // namespace rushlight::kernels::host

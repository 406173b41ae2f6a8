// SPDX-License-Identifier: BSD-3-Clause
// Products of constant right factors use the panels that prepare() packed at load. Batches pack at run time,
// if at all.
#include "kernels/backs/matmul.h"

#include <algorithm>

#include "kernels/checks/selection.h"
#include "kernels/host/gemm.h"
#include "kernels/host/product/complex_product.h"

namespace rushlight::kernels::host {

namespace {

// False in builds without complex operators.
constexpr bool is_of_complex(ScalarType type) { return kSelectsComplex && is_complex(type); }

size_t bytes_of(const Product& product) {
  return is_of_complex(product.type) ? complex_scratch_bytes(product) : scratch_bytes(Gemm(product));
}

size_t batch_bytes_of(const Product& first) {
  return is_of_complex(first.type) ? complex_scratch_bytes(first) : batch_scratch_bytes(Gemm(first));
}

Error multiply(KernelContext& context, const Product& product, void* scratch) {
  if (is_of_complex(product.type)) return multiply_complex(context, product, scratch);
  return host::multiply(context, Gemm(product), scratch);
}

void* take_scratch(KernelContext& context, size_t bytes) {
  return bytes == 0 ? nullptr : context.allocate_temp(bytes, 64);
}

// For prepare functions: `b` is packed at load only if it is real and constant.
void need_scratch(KernelContext& context, size_t bytes) {
  if (bytes != 0) context.need_scratch(bytes + 64);
}

// The product of matrices n of a batch, added to the bias or to the sum before.
Product part_of(const BatchProblem& problem, size_t n) {
  Product product = problem.first;
  product.a = Matrix::of(problem.a, n);
  product.b = Matrix::of(problem.b, n);
  return product;
}

}  // namespace

Error matmul(KernelContext& context, const ProductProblem& problem) {
  if (is_of_complex(problem.type())) {
    return multiply(context, problem.product, take_scratch(context, bytes_of(problem.product)));
  }
  Gemm gemm(problem.product);
  gemm.packed_b = context.prepared();
  return host::multiply(context, gemm, take_scratch(context, scratch_bytes(gemm)));
}

Error matmul_prepare(KernelContext& context, const ProductProblem& problem) {
  if (is_of_complex(problem.type())) {
    context.need_products(problem.product.rows * problem.product.columns * problem.product.depth);
    need_scratch(context, bytes_of(problem.product));
  } else {
    prepare(context, Gemm(problem.product), problem.b);
  }
  return Error::Ok;
}

std::optional<Error> vector_product(KernelContext& context, const ProductProblem& problem) {
  const size_t bytes = bytes_of(problem.product);
  void* scratch = take_scratch(context, bytes);
  if (scratch == nullptr && bytes != 0) return std::nullopt;
  return multiply(context, problem.product, scratch);
}

Error batch_matmul(KernelContext& context, const BatchProblem& problem) {
  Batch batch(problem.a, problem.b, problem.out);
  const Tensor* bias = problem.bias;
  // A bias without a batch, or of batch 1, is the same for all products.
  if (bias != nullptr && bias->dim() == 3 && bias->size(0) != 1) batch.bias = bias->strides()[0];
  Product first = problem.first;
  first.out = Matrix::of(problem.out);
  if (!is_of_complex(problem.type())) return host::multiply(context, Gemm(first), batch);
  void* scratch = take_scratch(context, bytes_of(first));
  const auto size = static_cast<ptrdiff_t>(problem.out.element_size());
  for (size_t n = 0; n < batch.count; ++n) {
    Product product = part_of(problem, n);
    product.out = Matrix::of(problem.out, n);
    if (first.bias.data != nullptr) {
      product.bias.data = static_cast<char*>(first.bias.data) + static_cast<ptrdiff_t>(n) * batch.bias * size;
    }
    RL_TRY(multiply(context, product, scratch));
  }
  return Error::Ok;
}

Error batch_matmul_prepare(KernelContext& context, const BatchProblem& problem) {
  Product first = problem.first;
  first.out = Matrix::of(problem.out);
  need_scratch(context, batch_bytes_of(first));
  context.need_products(problem.out.numel() * first.depth);
  return Error::Ok;
}

std::optional<Error> batch_sum(KernelContext& context, const BatchProblem& problem) {
  Product product = problem.first;
  Product next = product;
  next.bias = next.out;
  const size_t bytes = std::max(bytes_of(product), bytes_of(next));
  void* scratch = take_scratch(context, bytes);
  if (scratch == nullptr && bytes != 0) return std::nullopt;
  for (size_t n = 0; n < static_cast<size_t>(problem.a.size(0)); ++n) {
    product = part_of(problem, n);
    if (n > 0) {
      product.bias = product.out;
      product.beta = 1;
    }
    RL_TRY(multiply(context, product, scratch));
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels::host

// SPDX-License-Identifier: BSD-3-Clause
// Matrix products as operators describe them, for portable code and backs. Operators check the tensors here,
// give `out` its shape, and hand a Product to the back.
#pragma once

#include <cstddef>

#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// A strided matrix: element (i, j) is at data + i * row_stride + j * column_stride. Strides are in elements;
// exchanged they are the transposed matrix, and 0 repeats a row or column. Does not own the elements.
struct Matrix {
  void* data = nullptr;
  ptrdiff_t row_stride = 0;
  ptrdiff_t column_stride = 0;

  // The matrix of a tensor of rank 2, or matrix `batch` of a tensor of rank 3. Elements of a const tensor
  // must only be read.
  [[nodiscard]] static Matrix of(const Tensor& tensor, size_t batch = 0);
};

// The matrices of a product: `a` is rows x depth, `b` depth x columns, all of one dtype. A bias whose data is
// null is left out.
struct ProductMatrices {
  ScalarType type = ScalarType::Float;
  size_t rows = 0;
  size_t columns = 0;
  size_t depth = 0;
  Matrix a;
  Matrix b;
  Matrix out;
  Matrix bias;
};

// out = alpha * a b + beta * bias; beta 0 leaves the bias out. Floating sums are blocked, 16-bit floats are
// summed in float and rounded once, integers wrap. Alpha and beta are converted to the accumulator's type,
// and truncated for integers.
struct Product : ProductMatrices {
  Scalar alpha = 1;
  Scalar beta = 1;
  bool conjugates_a = false;  // complex only
};

// Checks that `a` and `b`, of the given rank (2, or 3 with a batch), can be multiplied into `out`, and sets
// dtype, sizes and both matrices of the product for batch 0. The caller resizes `out` and sets its matrix
// after that, since resizing may change its strides. Errors: InvalidArgument (ranks, sizes), InvalidType
// (dtypes differ or are not in `types`).
Error plan_product(const Tensor& a, const Tensor& b, const Tensor& out, size_t rank, TypeSet types,
                   Product* product);

// Broadcasts `bias` to `sizes`, of rank 2 or 3, and sets its matrix for a batch. `sizes` may not grow by it.
// Errors as above; `bias` has the dtype of `out`.
Error broadcast_bias(const Tensor& bias, const Tensor& out, Span<const SizesType> sizes, size_t batch,
                     Matrix* matrix);

}  // namespace rushlight::kernels

// SPDX-License-Identifier: BSD-3-Clause
// Products of matrices as operators describe them, whatever multiplies them.
#pragma once

#include <cstddef>

#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Element (i, j) lies at data + i * row_stride + j * column_stride, strides in elements.
struct Matrix {
  void* data = nullptr;
  ptrdiff_t row_stride = 0;
  ptrdiff_t column_stride = 0;

  // The last two dimensions of a tensor of rank 2, or of rank 3 at an index of the first.
  [[nodiscard]] static Matrix of(const Tensor& tensor, size_t batch = 0);
};

// What products of matrices have in common: `a` is rows x depth, `b` depth x columns, and all matrices have
// elements of one type. A bias whose data is null is left out.
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

// out = alpha * a b + beta * bias. No bias when beta is 0. Floating sums are made in blocks, 16-bit floats
// are held in float until the end, integers wrap.
struct Product : ProductMatrices {
  Scalar alpha = 1;
  Scalar beta = 1;
  bool conjugates_a = false;  // of complex numbers
};

// Checks that `a` and `b`, of the given rank (2, or 3 with a batch), can be multiplied into `out`, and
// sets type, sizes and both matrices of the product at batch 0. Errors: InvalidArgument (ranks, sizes),
// InvalidType (dtypes that differ or are not in `types`).
Error plan_product(const Tensor& a, const Tensor& b, const Tensor& out, size_t rank, TypeSet types,
                   Product* product);

// Where `bias` broadcasts to `sizes`, of rank 2 or 3, sets its matrix at a batch. Errors as above.
Error broadcast_bias(const Tensor& bias, const Tensor& out, Span<const SizesType> sizes, size_t batch,
                     Matrix* matrix);

}  // namespace rushlight::kernels

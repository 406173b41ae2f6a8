// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/matmul/product.h"

#include "kernels/checks/checks.h"
#include "runtime/base/assert.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

// Any dim order is a strided matrix, so no layout needs a copy.
Matrix Matrix::of(const Tensor& tensor, size_t batch) {
  const Span<const StridesType> strides = tensor.strides();
  const size_t rank = strides.size();
  RL_DCHECK(rank == 2 || rank == 3);
  Matrix matrix{tensor.mutable_data_ptr(), strides[rank - 2], strides[rank - 1]};
  if (batch != 0) {
    matrix.data =
        tensor.mutable_data_ptr<char>() + batch * static_cast<size_t>(strides[0]) * tensor.element_size();
  }
  return matrix;
}

Error plan_product(const Tensor& a, const Tensor& b, const Tensor& out, size_t rank, TypeSet types,
                   Product* product) {
  if (!contains(types, a.scalar_type())) return unsupported_type(a.scalar_type());
  RL_TRY(check_same_dtype(a, b, "the matrices"));
  RL_TRY(check_same_dtype(a, out, "the matrices and out"));
  const Span<const SizesType> left = a.sizes();
  const Span<const SizesType> right = b.sizes();
  RL_CHECK(left.size() == rank && right.size() == rank, Error::InvalidArgument,
           "the matrices: expected rank %d, got %d and %d", static_cast<int>(rank),
           static_cast<int>(left.size()), static_cast<int>(right.size()));
  // Batches of bmm do not broadcast.
  RL_CHECK(left[rank - 1] == right[rank - 2] && (rank == 2 || left[0] == right[0]), Error::InvalidArgument,
           "the matrices: %ld columns on the left, %ld rows on the right, or batches that differ",
           static_cast<long>(left[rank - 1]), static_cast<long>(right[rank - 2]));
  // The caller resizes `out` and sets its matrix.
  product->type = a.scalar_type();
  product->rows = static_cast<size_t>(left[rank - 2]);
  product->columns = static_cast<size_t>(right[rank - 1]);
  product->depth = static_cast<size_t>(left[rank - 1]);
  product->a = Matrix::of(a);
  product->b = Matrix::of(b);
  return Error::Ok;
}

// The summand must not enlarge the product, so the broadcast shape has to be the product's.
Error broadcast_bias(const Tensor& bias, const Tensor& out, Span<const SizesType> sizes, size_t batch,
                     Matrix* matrix) {
  RL_TRY(check_same_dtype(bias, out, "the summand and out"));
  Shape shape;
  RL_TRY(broadcast_shape(sizes, bias.sizes(), &shape));
  bool fits = shape.dim == sizes.size();
  for (size_t d = 0; fits && d < shape.dim; ++d) fits = shape.sizes[d] == sizes[d];
  RL_CHECK(fits, Error::InvalidArgument, "the summand: does not broadcast to the product");
  // Counted from the last dimension; missing dimensions and dimensions of size 1 repeat.
  const size_t rank = bias.sizes().size();
  const auto stride = [&](size_t from_end) {
    const bool repeats = from_end > rank || bias.sizes()[rank - from_end] == 1;
    return repeats ? ptrdiff_t{0} : ptrdiff_t{bias.strides()[rank - from_end]};
  };
  const auto element = static_cast<ptrdiff_t>(bias.element_size());
  *matrix = {bias.mutable_data_ptr<char>() + static_cast<ptrdiff_t>(batch) * stride(3) * element, stride(2),
             stride(1)};
  return Error::Ok;
}

}  // namespace rushlight::kernels

// SPDX-License-Identifier: BSD-3-Clause
// A vector is a matrix with stride 0 along the dimension that it lacks, so the loops of the matrix product
// serve mv, addmv and dot.
#include "kernels/matmul/vector_product.h"

#include "kernels/checks/checks.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// A vector as a matrix with one column, or with one row.
Matrix column_of(const Tensor& vector) {
  return {vector.mutable_data_ptr(), vector.dim() == 0 ? 0 : vector.strides()[0], 0};
}
Matrix row_of(const Tensor& vector) { return {vector.mutable_data_ptr(), 0, column_of(vector).row_stride}; }

// InvalidArgument unless the factor has the rank; InvalidType unless it has the dtype of `out`.
Error check_factor(const Tensor& factor, ptrdiff_t rank, const Tensor& out, const char* name) {
  RL_TRY(check_same_dtype(factor, out, name));
  RL_CHECK(factor.dim() == rank, Error::InvalidArgument, "%s: expected rank %ld, got %ld", name,
           static_cast<long>(rank), static_cast<long>(factor.dim()));
  return Error::Ok;
}

// The shared dimension of both factors.
Error check_depths(ptrdiff_t left, ptrdiff_t right) {
  RL_CHECK(left == right, Error::InvalidArgument, "factors: %ld columns on the left, %ld rows on the right",
           static_cast<long>(left), static_cast<long>(right));
  return Error::Ok;
}

}  // namespace

Error plan_matrix_vector(const Tensor& matrix, const Tensor& vector, const Tensor& out, TypeSet types,
                         Product* product) {
  if (!contains(types, matrix.scalar_type())) return unsupported_type(matrix.scalar_type());
  RL_TRY(check_factor(matrix, 2, out, "the matrix"));
  RL_TRY(check_factor(vector, 1, out, "the vector"));
  RL_TRY(check_depths(matrix.size(1), vector.size(0)));
  const SizesType sizes[] = {matrix.sizes()[0]};
  RL_TRY(resize_out(out, sizes));
  product->type = out.scalar_type();
  product->rows = static_cast<size_t>(matrix.size(0));
  product->columns = 1;
  product->depth = static_cast<size_t>(matrix.size(1));
  product->a = Matrix::of(matrix);
  product->b = column_of(vector);
  product->out = column_of(out);
  return Error::Ok;
}

Error plan_vector_bias(const Tensor& self, const Tensor& matrix, const Tensor& out, Product* product) {
  RL_TRY(check_same_dtype(self, out, "self and out"));
  RL_CHECK(matrix.dim() == 2 && self.dim() <= 1 &&
               (self.numel() == 1 || ptrdiff_t(self.numel()) == matrix.size(0)),
           Error::InvalidArgument, "self: expected a value for each row of a matrix");
  product->bias = column_of(self);
  // One element is repeated for all rows.
  if (self.numel() == 1) product->bias.row_stride = 0;
  return Error::Ok;
}

Error plan_dot(const Tensor& self, const Tensor& other, const Tensor& out, TypeSet types, Product* product) {
  if (!contains(types, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_TRY(check_factor(self, 1, out, "self"));
  RL_TRY(check_factor(other, 1, out, "the other vector"));
  RL_TRY(check_depths(self.size(0), other.size(0)));
  RL_TRY(resize_out(out, Span<const SizesType>()));
  product->type = out.scalar_type();
  // A dot product is a row times a column.
  product->rows = 1;
  product->columns = 1;
  product->depth = self.numel();
  product->a = row_of(self);
  product->b = column_of(other);
  product->out = column_of(out);
  return Error::Ok;
}

}  // namespace rushlight::kernels

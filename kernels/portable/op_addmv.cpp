// SPDX-License-Identifier: BSD-3-Clause
// Products with vectors, and sums of products, as products of matrices.
#include "kernels/shared/checks.h"
#include "kernels/shared/matmul.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// A vector as the only column of a matrix, or as the only row.
Matrix column_of(const Tensor& vector) {
  return {vector.mutable_data_ptr(), vector.dim() == 0 ? 0 : vector.strides()[0], 0};
}
Matrix row_of(const Tensor& vector) { return {vector.mutable_data_ptr(), 0, column_of(vector).row_stride}; }

// InvalidArgument unless it has the rank; InvalidType unless the dtype is that of `out`.
Error check_factor(const Tensor& factor, ptrdiff_t rank, const Tensor& out, const char* name) {
  RL_TRY(check_same_dtype(factor, out, name));
  RL_CHECK(factor.dim() == rank, Error::InvalidArgument, "%s: expected rank %ld, got %ld", name,
           static_cast<long>(rank), static_cast<long>(factor.dim()));
  return Error::Ok;
}

Error check_depths(ptrdiff_t left, ptrdiff_t right) {
  RL_CHECK(left == right, Error::InvalidArgument, "factors: %ld columns on the left, %ld rows on the right",
           static_cast<long>(left), static_cast<long>(right));
  return Error::Ok;
}

Error multiply_vector(const Tensor& matrix, const Tensor& vector, const Tensor& out, TypeSet types,
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
  return multiply(*product);
}

Error multiply_vectors(const Tensor& self, const Tensor& other, const Tensor& out, TypeSet types,
                       bool conjugates_self) {
  if (!contains(types, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_TRY(check_factor(self, 1, out, "self"));
  RL_TRY(check_factor(other, 1, out, "the other vector"));
  RL_TRY(check_depths(self.size(0), other.size(0)));
  RL_TRY(resize_out(out, Span<const SizesType>()));
  Product product;
  product.type = out.scalar_type();
  product.rows = 1;
  product.columns = 1;
  product.depth = self.numel();
  product.a = row_of(self);
  product.b = column_of(other);
  product.out = column_of(out);
  product.conjugates_a = conjugates_self;
  return multiply(product);
}

}  // namespace

Error mv_out(KernelContext&, const Tensor& self, const Tensor& vec, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::mv.out");
  Product product;
  return multiply_vector(self, vec, out, kTypes, &product);
}

Error addmv_out(KernelContext&, const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta,
                const Scalar& alpha, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::addmv.out");
  RL_TRY(check_same_dtype(self, out, "self and out"));
  RL_CHECK(mat.dim() == 2 && self.dim() <= 1 && (self.numel() == 1 || ptrdiff_t(self.numel()) == mat.size(0)),
           Error::InvalidArgument, "self: expected a number for each row of a matrix");
  Product product;
  product.bias = column_of(self);
  if (self.numel() == 1) product.bias.row_stride = 0;
  product.beta = beta;
  product.alpha = alpha;
  return multiply_vector(mat, vec, out, kTypes, &product);
}

Error dot_out(KernelContext&, const Tensor& self, const Tensor& tensor, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::dot.out");
  return multiply_vectors(self, tensor, out, kTypes, false);
}

Error vdot_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::vdot.out");
  return multiply_vectors(self, other, out, kTypes, true);
}

Error addbmm_out(KernelContext&, const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                 const Scalar& beta, const Scalar& alpha, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::addbmm.out");
  Product product;
  RL_TRY(plan_product(batch1, batch2, out, 3, kTypes, &product));
  const SizesType sizes[] = {batch1.sizes()[1], batch2.sizes()[2]};
  RL_TRY(broadcast_bias(self, out, sizes, 0, &product.bias));
  RL_TRY(resize_out(out, sizes));
  product.out = Matrix::of(out);
  product.beta = beta;
  product.alpha = alpha;
  const auto count = static_cast<size_t>(batch1.sizes()[0]);
  // Without a batch there are products of no depth to add.
  if (count == 0) product.depth = 0;
  for (size_t n = 0; n < (count == 0 ? 1 : count); ++n) {
    if (count != 0) {
      product.a = Matrix::of(batch1, n);
      product.b = Matrix::of(batch2, n);
    }
    RL_TRY(multiply(product));
    product.bias = product.out;
    product.beta = 1;
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels

// SPDX-License-Identifier: BSD-3-Clause
// Linear systems, inverses and determinants by LU with partial pivoting: about 2/3 n^3 operations for the
// factors, 2 n^2 for each right-hand side, 2 n^3 for an inverse. Arithmetic is in double, elements are
// rounded when stored.
#include "kernels/checks/selection.h"
#include "kernels/linalg/factorization.h"
#include "kernels/walk/paired_axes.h"

namespace rushlight::kernels {

namespace {

// PyTorch's rule: true if B has one right-hand side, a vector, for each matrix.
bool holds_vectors(const Tensor& a, const Tensor& b) {
  if (b.dim() == 1) return true;
  if (b.dim() + 1 != a.dim()) return false;
  for (ptrdiff_t d = 0; d < b.dim(); ++d) {
    if (a.size(d) != b.size(d)) return false;
  }
  return true;
}

// PyTorch factors the transpose of row-major real matrices here and returns those factors; so does this. The
// determinant is the same.
bool is_factored_transposed(const Tensor& a) {
  return !is_complex(a.scalar_type()) && is_contiguous_dim_order(a.dim_order());
}

// The determinant: the product of the diagonal of U, with the sign of the permutation: each pivot that is not
// its own row is one exchange. Also as a sign and the sum of logarithms of magnitudes, which overflow later
// than the product. A singular matrix gives 0, sign 0 and logarithm -inf.
struct Determinant {
  Number product = 1;
  Number sign = 1;
  double logarithm = 0;

  Determinant(const MatrixView& lu, Pivots pivots) {
    for (ptrdiff_t i = 0; i < lu.rows; ++i) {
      const Number pivot = lu.get(i, i);
      const double size = absolute(pivot);
      const double swap_sign = pivots[i] == i + 1 ? 1 : -1;
      product = product * (pivot * swap_sign);
      logarithm += std::log(size);
      sign = size == 0 ? Number() : sign * (pivot * (swap_sign / size));
    }
  }
};

// Sets the results of matrices without elements, for which a loop over the batch takes much longer than a
// fill; builds for size have only that loop. The layout of a tensor does not matter. False for other
// matrices.
bool fill_for_empty(const Tensor& matrices, Number value, const Tensor& result) {
#ifndef __OPTIMIZE_SIZE__
  if (matrices.numel() == 0) {
    const auto count = static_cast<ptrdiff_t>(result.numel());
    const MatrixView all = MatrixView::dense(result.mutable_data_ptr<char>(), result.scalar_type(), count, 1);
    for (ptrdiff_t i = 0; i < count; ++i) all.set(i, 0, value);
    return true;
  }
#else
  static_cast<void>(matrices);
  static_cast<void>(value);
  static_cast<void>(result);
#endif
  return false;
}

}  // namespace

Error _linalg_solve_ex_result(KernelContext& context, const Tensor& A, const Tensor& B, bool left,
                              bool check_errors, Tensor& result, Tensor& LU, Tensor& pivots, Tensor& info) {
  constexpr TypeSet kTypes = selected_types("aten::_linalg_solve_ex.result");
  RL_TRY(check_square(A, kTypes, "A"));
  const bool vectors = holds_vectors(A, B);
  RL_CHECK(left || !vectors, Error::InvalidArgument, "B: expected matrices for left = false");
  RL_TRY(factor_all(context, A, false, LU, pivots, &info, check_errors));
  // Reads the factors back from LU, rounded to its dtype.
  return solve_all(LU, pivots, B, {left, false, false, vectors}, result);
}

// The inverse in place in `inverse`. Scratch: a column and an int32 for each of its elements. A singular
// matrix without check_errors leaves infinities or NaN, and `info` its first zero pivot.
Error linalg_inv_ex_inverse(KernelContext& context, const Tensor& A, bool check_errors, Tensor& inverse,
                            Tensor& info) {
  constexpr TypeSet kTypes = selected_types("aten::linalg_inv_ex.inverse");
  RL_TRY(check_square(A, kTypes, "A"));
  RL_TRY(check_dtype(inverse, A.scalar_type(), "inverse"));
  RL_TRY(check_dtype(info, ScalarType::Int, "info"));
  const Shape batch = Shape::of(A, 2);
  RL_TRY(copy_matrices(A, inverse));
  RL_TRY(resize_out(info, batch.span()));
  const ptrdiff_t rows = A.size(A.dim() - 1);
  MatrixView column;
  MatrixView numbers;
  RL_TRY(allocate_matrix(context, exact_type(A.scalar_type()), rows, 1, &column));
  RL_TRY(allocate_matrix(context, ScalarType::Float, rows, 1, &numbers));
  for (size_t n = 0; n < batch_size(batch); ++n) {
    const int32_t stopped =
        invert(matrix_of(inverse, batch, n), Pivots{numbers.data, sizeof(int32_t)}, column);
    int32_of(info, batch, n) = stopped;
    RL_CHECK(!check_errors || stopped == 0, Error::InvalidArgument,
             "A: matrix %lu of the batch is singular, pivot %ld is zero", static_cast<unsigned long>(n),
             static_cast<long>(stopped));
  }
  return Error::Ok;
}

Error _linalg_det_result(KernelContext& context, const Tensor& A, Tensor& result, Tensor& LU,
                         Tensor& pivots) {
  constexpr TypeSet kTypes = selected_types("aten::_linalg_det.result");
  RL_TRY(check_square(A, kTypes, "A"));
  RL_TRY(check_dtype(result, A.scalar_type(), "result"));
  RL_TRY(factor_all(context, A, is_factored_transposed(A), LU, pivots, nullptr, false));
  const Shape batch = Shape::of(A, 2);
  RL_TRY(resize_out(result, batch.span()));
  if (fill_for_empty(A, 1, result)) return Error::Ok;
  for (size_t n = 0; n < batch_size(batch); ++n) {
    const Determinant det(matrix_of(LU, batch, n), pivots_of(pivots, batch, n));
    number_of(result, batch, n).set(0, 0, det.product);
  }
  return Error::Ok;
}

Error _linalg_slogdet_sign(KernelContext& context, const Tensor& A, Tensor& sign, Tensor& logabsdet,
                           Tensor& LU, Tensor& pivots) {
  constexpr TypeSet kTypes = selected_types("aten::_linalg_slogdet.sign");
  RL_TRY(check_square(A, kTypes, "A"));
  RL_TRY(check_dtype(sign, A.scalar_type(), "sign"));
  RL_TRY(check_dtype(logabsdet, component_type(A.scalar_type()), "logabsdet"));
  RL_TRY(factor_all(context, A, is_factored_transposed(A), LU, pivots, nullptr, false));
  const Shape batch = Shape::of(A, 2);
  RL_TRY(resize_out(sign, batch.span()));
  RL_TRY(resize_out(logabsdet, batch.span()));
  if (fill_for_empty(A, 1, sign) && fill_for_empty(A, 0, logabsdet)) return Error::Ok;
  for (size_t n = 0; n < batch_size(batch); ++n) {
    const Determinant det(matrix_of(LU, batch, n), pivots_of(pivots, batch, n));
    number_of(sign, batch, n).set(0, 0, det.sign);
    number_of(logabsdet, batch, n).set(0, 0, det.logarithm);
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels

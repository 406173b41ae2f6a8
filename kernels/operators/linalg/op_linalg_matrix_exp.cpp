// SPDX-License-Identifier: BSD-3-Clause
// Matrix exponential by scaling and squaring with a Taylor series (Moler and Van Loan, "Nineteen Dubious Ways
// to Compute the Exponential of a Matrix", SIAM Review): halves the matrix until its norm is at most 1, sums
// the series by Horner's scheme and squares the result as often. 18 products plus one for each halving; no
// linear solve, which Pade approximants need.
#include <algorithm>
#include <utility>

#include "kernels/checks/selection.h"
#include "kernels/linalg/matrix.h"

namespace rushlight::kernels {

namespace {

// Terms of the series that double precision needs for a norm of at most 1: the next one is at most 1 / 19! =
// 8e-18.
constexpr int kTerms = 18;
// More halvings than any finite norm needs.
constexpr int kMostHalvings = 1100;

// target = unit * I + factor * a b.
void multiply_add(const MatrixView& target, double unit, const MatrixView& a, const MatrixView& b,
                  double factor) {
  Number sums[MatrixView::kSums];
  for (ptrdiff_t i = 0; i < target.rows; ++i) {
    for (ptrdiff_t j = 0; j < target.columns; j += MatrixView::kSums) {
      const ptrdiff_t count = std::min(target.columns - j, MatrixView::kSums);
      a.dots(i, b, j, count, 0, a.columns, sums);
      for (ptrdiff_t c = 0; c < count; ++c) {
        target.set(i, j + c, {sums[c].real * factor + (i == j + c ? unit : 0), sums[c].imag * factor});
      }
    }
  }
}

// exp(a); returns whichever of the two scratch matrices holds it.
const MatrixView& exponentiate(const MatrixView& a, const MatrixView& first, const MatrixView& second) {
  // The 1-norm: the largest sum of magnitudes of a column.
  double norm = 0;
  for (ptrdiff_t j = 0; j < a.columns; ++j) {
    double sum = 0;
    for (ptrdiff_t i = 0; i < a.rows; ++i) sum += absolute(a.get(i, j));
    norm = sum > norm ? sum : norm;
  }
  int halvings = 0;
  double scale = 1;
  for (; norm * scale > 1 && halvings < kMostHalvings; ++halvings) scale /= 2;
  const MatrixView* result = &first;
  const MatrixView* other = &second;
  result->set_identity();
  // Horner's scheme: 1 + a (1 + a/2 (1 + a/3 (...))).
  for (int k = kTerms; k > 0; --k, std::swap(result, other)) multiply_add(*other, 1, a, *result, scale / k);
  // exp(a) = exp(a / 2^s)^(2^s)
  for (; halvings > 0; --halvings, std::swap(result, other)) multiply_add(*other, 0, *result, *result, 1);
  return *result;
}

}  // namespace

// Scratch, in double precision: two matrices of the size of `self`.
Error linalg_matrix_exp_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::linalg_matrix_exp.out");
  RL_TRY(check_square(self, kTypes, "self"));
  RL_TRY(check_dtype(out, self.scalar_type(), "out"));
  RL_TRY(resize_out(out, self.sizes()));
  const Shape batch = Shape::of(self, 2);
  const ptrdiff_t rows = self.size(self.dim() - 1);
  MatrixView first;
  MatrixView second;
  RL_TRY(allocate_matrix(context, exact_type(self.scalar_type()), rows, rows, &first));
  RL_TRY(allocate_matrix(context, exact_type(self.scalar_type()), rows, rows, &second));
  for (size_t n = 0; n < batch_size(batch); ++n) {
    matrix_of(out, batch, n).copy(exponentiate(matrix_of(self, batch, n), first, second));
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels

// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "kernels/checks/selection.h"
#include "kernels/linalg/matrix.h"

namespace rushlight::kernels {

namespace {

// Enough terms of the series for double, of a matrix with norm 1 at most.
constexpr int kTerms = 18;
// More halvings than this no finite norm needs.
constexpr int kMostHalvings = 1100;

// target = unit + a b * factor.
void multiply_add(const MatrixView& target, double unit, const MatrixView& a, const MatrixView& b,
                  double factor) {
  for (ptrdiff_t i = 0; i < target.rows; ++i) {
    for (ptrdiff_t j = 0; j < target.columns; ++j) {
      const Number product = a.dot(i, b, j, 0, a.columns);
      target.set(i, j, {product.real * factor + (i == j ? unit : 0), product.imag * factor});
    }
  }
}

// exp(a) as the power of that of a fraction of a; returns which of the two holds it.
const MatrixView& exponentiate(const MatrixView& a, const MatrixView& first, const MatrixView& second) {
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
  for (; halvings > 0; --halvings, std::swap(result, other)) multiply_add(*other, 0, *result, *result, 1);
  return *result;
}

}  // namespace

// Scratch: twice the elements of a matrix as doubles.
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

// SPDX-License-Identifier: BSD-3-Clause
// Matrix exponential by scaling and squaring with a Taylor series (Moler and Van Loan, "Nineteen Dubious Ways
// to Compute the Exponential of a Matrix", SIAM Review): halves the matrix until its norm is at most 1, sums
// the series and squares the result as often. No linear solve, which Pade approximants need. The series is
// summed in blocks of four terms (Paterson and Stockmeyer, 1973), with B_k = c_4k I + c_4k+1 A + c_4k+2 A^2 +
// c_4k+3 A^3:
//
//   exp(A) = B_0 + (B_1 + (B_2 + ...) A^4) A^4
//
// Three products for the powers, one for each further block, and one for each halving.
#include <utility>

#include "kernels/checks/selection.h"
#include "kernels/linalg/products.h"

namespace rushlight::kernels {

namespace {

constexpr size_t kBlock = 4;
// Blocks that a norm of at most 1 needs: the next term is at most 1 / 16! = 5e-14, or 1 / 20! = 4e-19.
constexpr size_t kFloatBlocks = 4;
constexpr size_t kDoubleBlocks = 5;
// More halvings than any finite norm needs.
constexpr int kMostHalvings = 1100;

// The first four powers, and two matrices between which results alternate: dense, in double.
struct Scratch {
  MatrixView powers[kBlock];
  MatrixView results[2];
};

// Elements of a dense matrix in double, part by part.
double* parts_of(const MatrixView& matrix) { return reinterpret_cast<double*>(matrix.data); }
size_t parts_in(const MatrixView& matrix) {
  return static_cast<size_t>(matrix.rows * matrix.row_step) / sizeof(double);
}

// Adds the block of the series with these coefficients.
void add_block(const MatrixView& target, const double* coefficients, const MatrixView* powers) {
  double* const sums = parts_of(target);
  const size_t count = parts_in(target);
  for (size_t k = 1; k < kBlock; ++k) {
    const double* const power = parts_of(powers[k - 1]);
    for (size_t i = 0; i < count; ++i) sums[i] += coefficients[k] * power[i];
  }
  for (ptrdiff_t i = 0; i < target.rows; ++i) target.set(i, i, target.get(i, i) + coefficients[0]);
}

// exp(a); returns whichever of the two results holds it.
const MatrixView& exponentiate(const MatrixView& a, const Scratch& scratch) {
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
  const MatrixView* const powers = scratch.powers;
  powers[0].copy(a);
  for (size_t i = 0; i < parts_in(powers[0]); ++i) parts_of(powers[0])[i] *= scale;
  multiply(powers[1], powers[0], powers[0]);
  multiply(powers[2], powers[1], powers[0]);
  multiply(powers[3], powers[1], powers[1]);

  double coefficients[kBlock * kDoubleBlocks] = {1};
  for (size_t k = 1; k < kBlock * kDoubleBlocks; ++k) {
    coefficients[k] = coefficients[k - 1] / static_cast<double>(k);
  }
  const MatrixView* result = &scratch.results[0];
  const MatrixView* other = &scratch.results[1];
  size_t block = component_type(a.type) == ScalarType::Float ? kFloatBlocks : kDoubleBlocks;
  for (size_t i = 0; i < parts_in(*result); ++i) parts_of(*result)[i] = 0;
  add_block(*result, coefficients + kBlock * --block, powers);
  while (block-- > 0) {
    multiply(*other, *result, powers[3]);
    add_block(*other, coefficients + kBlock * block, powers);
    std::swap(result, other);
  }
  // exp(a) = exp(a / 2^s)^(2^s)
  for (; halvings > 0; --halvings, std::swap(result, other)) multiply(*other, *result, *result);
  return *result;
}

}  // namespace

// Scratch, in double precision: six matrices of the size of `self`.
Error linalg_matrix_exp_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::linalg_matrix_exp.out");
  RL_TRY(check_square(self, kTypes, "self"));
  RL_TRY(check_dtype(out, self.scalar_type(), "out"));
  RL_TRY(resize_out(out, self.sizes()));
  const Shape batch = Shape::of(self, 2);
  const ptrdiff_t rows = self.size(self.dim() - 1);
  Scratch scratch;
  for (MatrixView& each : scratch.powers) {
    RL_TRY(allocate_matrix(context, exact_type(self.scalar_type()), rows, rows, &each));
  }
  for (MatrixView& each : scratch.results) {
    RL_TRY(allocate_matrix(context, exact_type(self.scalar_type()), rows, rows, &each));
  }
  for (size_t n = 0; n < batch_size(batch); ++n) {
    matrix_of(out, batch, n).copy(exponentiate(matrix_of(self, batch, n), scratch));
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels

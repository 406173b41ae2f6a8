// SPDX-License-Identifier: BSD-3-Clause
#include <string_view>

#include "kernels/checks/selection.h"
#include "kernels/linalg/eigen.h"

namespace rushlight::kernels {

// Eigenvalues and eigenvectors of Hermitian matrices; class Eigen has the method. Scratch, in double
// precision: a matrix and four columns.
Error _linalg_eigh_eigenvalues(KernelContext& context, const Tensor& A, std::string_view UPLO, bool compute_v,
                               Tensor& eigenvalues, Tensor& eigenvectors) {
  constexpr TypeSet kTypes = selected_types("aten::_linalg_eigh.eigenvalues");
  RL_TRY(check_square(A, kTypes, "A"));
  RL_TRY(check_dtype(eigenvalues, component_type(A.scalar_type()), "eigenvalues"));
  RL_TRY(check_dtype(eigenvectors, A.scalar_type(), "eigenvectors"));
  const bool upper = UPLO == "U" || UPLO == "u";
  RL_CHECK(upper || UPLO == "L" || UPLO == "l", Error::InvalidArgument, "UPLO: expected L or U, got %.*s",
           static_cast<int>(UPLO.size()), UPLO.data());
  const Shape batch = Shape::of(A, 2);
  const ptrdiff_t rows = A.size(A.dim() - 1);
  RL_TRY(resize_batched(eigenvalues, batch, {rows}));
  if (compute_v) {
    RL_TRY(resize_batched(eigenvectors, batch, {rows, rows}));
  } else {
    RL_TRY(resize_batched(eigenvectors, Shape(), {0}));
  }
  Eigen eigen;
  RL_TRY(eigen.reserve(context, A.scalar_type(), rows));
  const MatrixView& work = eigen.work;
  for (size_t n = 0; n < batch_size(batch); ++n) {
    const MatrixView source = matrix_of(A, batch, n);
    // Reads only the triangle that UPLO names.
    const MatrixView triangle = upper ? source.adjoint() : source;
    for (ptrdiff_t i = 0; i < rows; ++i) {
      for (ptrdiff_t j = 0; j < i; ++j) {
        work.set(i, j, triangle.get(i, j));
        work.set(j, i, conjugate(triangle.get(i, j)));
      }
      work.set(i, i, triangle.get(i, i).real);
    }
    // Both triangles of `work` are set; decompose() replaces them by the vectors. The upper triangle of A, or
    // with UPLO = U the lower one, may hold anything.
    eigen.decompose(compute_v);
    const MatrixView values = vector_of(eigenvalues, batch, n);
    for (ptrdiff_t i = 0; i < rows; ++i) values.set(i, 0, eigen.values[i]);
    if (compute_v) matrix_of(eigenvectors, batch, n).copy(work);
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels

// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <string_view>

#include "kernels/checks/selection.h"
#include "kernels/linalg/eigen.h"

namespace rushlight::kernels {

// Singular value decomposition A = U diag(S) Vh with S in descending order; class Singular has the method and
// defines the scratch. Without compute_uv, U and Vh become empty and no vectors are computed. `driver`
// chooses among CUDA solvers in PyTorch, so only None is accepted.
Error _linalg_svd_U(KernelContext& context, const Tensor& A, bool full_matrices, bool compute_uv,
                    std::optional<std::string_view> driver, Tensor& U, Tensor& S, Tensor& Vh) {
  constexpr TypeSet kTypes = selected_types("aten::_linalg_svd.U");
  RL_TRY(check_matrices(A, kTypes, "A"));
  RL_CHECK(!driver, Error::NotSupported, "driver: expected none, got %.*s", static_cast<int>(driver->size()),
           driver->data());
  RL_TRY(check_dtype(U, A.scalar_type(), "U"));
  RL_TRY(check_dtype(S, component_type(A.scalar_type()), "S"));
  RL_TRY(check_dtype(Vh, A.scalar_type(), "Vh"));
  const Shape batch = Shape::of(A, 2);
  const ptrdiff_t rows = A.size(A.dim() - 2);
  const ptrdiff_t columns = A.size(A.dim() - 1);
  const ptrdiff_t count = std::min(rows, columns);
  RL_TRY(resize_batched(S, batch, {count}));
  if (compute_uv) {
    RL_TRY(resize_batched(U, batch, {rows, full_matrices ? rows : count}));
    RL_TRY(resize_batched(Vh, batch, {full_matrices ? columns : count, columns}));
  } else {
    RL_TRY(resize_batched(U, Shape(), {0}));
    RL_TRY(resize_batched(Vh, Shape(), {0}));
  }
  Singular singular;
  RL_TRY(singular.reserve(context, A.scalar_type(), rows, columns, compute_uv));
  for (size_t n = 0; n < batch_size(batch); ++n) {
    singular.values = vector_of(S, batch, n);
    if (compute_uv) {
      singular.u = matrix_of(U, batch, n);
      singular.vh = matrix_of(Vh, batch, n);
    }
    singular.decompose(matrix_of(A, batch, n));
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels

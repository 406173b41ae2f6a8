// SPDX-License-Identifier: BSD-3-Clause
// Limits the norms of embedding rows, in double. A row that is selected more than once is measured again,
// after it was scaled: its norm is then at the limit, up to rounding. Only a norm of order 0, the number of
// nonzero elements, does not shrink; then rows that were selected before are skipped, at quadratic cost.
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/index/index.h"
#include "kernels/reduction/limit_norm.h"
#include "kernels/walk/row_major.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// True if one of the first `count` indices is `index`.
bool is_among(const Tensor& indices, size_t count, int64_t index) {
  RowMajorCursor at(indices);
  for (; count > 0; --count, at.advance()) {
    if (read_index(at.get(), indices.scalar_type()) == index) return true;
  }
  return false;
}

}  // namespace

// Scales the rows selected by `indices` down to max_norm if their norm exceeds it.
Error embedding_renorm_out(KernelContext&, const Tensor& self, const Tensor& indices, double max_norm,
                           double norm_type, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::embedding_renorm.out") & types::kFloating;
  if (!contains(kTypes, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_TRY(check_index_dtype(indices));
  RL_CHECK(self.dim() == 2, Error::InvalidArgument, "self: expected 2 dimensions, got %d",
           static_cast<int>(self.dim()));
  RL_TRY(copy_to_out(View::of(self), out));
  RowMajorCursor at(indices);
  for (size_t i = 0; i < indices.numel(); ++i, at.advance()) {
    const int64_t index = read_index(at.get(), indices.scalar_type());
    RL_TRY(check_index(index, out.sizes()[0]));
    if (norm_type == 0 && is_among(indices, i, index)) continue;
    limit_norm(View::of(out).select(0, static_cast<ptrdiff_t>(index)), norm_type, max_norm);
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels

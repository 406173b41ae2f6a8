// SPDX-License-Identifier: BSD-3-Clause
// Limits the norms of embedding rows, in double. A row that is selected more than once is measured again,
// after it was scaled: its norm is then at the limit, up to rounding.
#include <cmath>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/element_access.h"
#include "kernels/index/index.h"
#include "kernels/walk/paired_axes.h"
#include "kernels/walk/row_major.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// One row of the table; `step` in bytes.
struct Row {
  char* data;
  ptrdiff_t step;
  ptrdiff_t size;
  ScalarType type;
};

// The norm of order `norm_type`; an infinite order gives the largest magnitude. NaN is kept.
double norm_of(const Row& row, double norm_type) {
  double sum = 0;
  double largest = 0;
  for (ptrdiff_t i = 0; i < row.size; ++i) {
    const double magnitude = std::fabs(load_number(row.data + i * row.step, row.type));
    sum += std::isinf(norm_type) ? 0 : std::pow(magnitude, norm_type);
    if (!(magnitude <= largest)) largest = magnitude;
  }
  return std::isinf(norm_type) ? largest : std::pow(sum, 1 / norm_type);
}

}  // namespace

// Scales the rows selected by `indices` down to max_norm if their norm exceeds it. The 1e-7 in the divisor is
// PyTorch's.
Error embedding_renorm_out(KernelContext&, const Tensor& self, const Tensor& indices, double max_norm,
                           double norm_type, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::embedding_renorm.out") & types::kFloating;
  if (!contains(kTypes, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_TRY(check_index_dtype(indices));
  RL_CHECK(self.dim() == 2, Error::InvalidArgument, "self: expected 2 dimensions, got %d",
           static_cast<int>(self.dim()));
  RL_TRY(copy_to_out(View::of(self), out));
  RowMajorCursor at(indices);
  for (size_t left = indices.numel(); left > 0; --left, at.advance()) {
    const int64_t index = read_index(at.get(), indices.scalar_type());
    RL_TRY(check_index(index, out.sizes()[0]));
    const Row row{out.mutable_data_ptr<char>() + static_cast<ptrdiff_t>(index) * byte_stride(out, 0),
                  byte_stride(out, 1), out.sizes()[1], out.scalar_type()};
    const double norm = norm_of(row, norm_type);
    if (!(norm > max_norm)) continue;
    const double scale = max_norm / (norm + 1e-7);
    for (ptrdiff_t i = 0; i < row.size; ++i) {
      char* const element = row.data + i * row.step;
      store_number(element, row.type, load_number(element, row.type) * scale);
    }
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels

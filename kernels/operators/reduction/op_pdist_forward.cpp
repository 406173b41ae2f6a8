// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/reduction/distance.h"
#include "kernels/walk/paired_axes.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

// Distances of row 0 to all later rows, then of row 1 to all later rows, and so on: n (n - 1) / 2 results for
// n rows.
Error _pdist_forward_out(KernelContext&, const Tensor& self, double p, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::_pdist_forward.out");
  const ScalarType type = self.scalar_type();
  RL_CHECK(self.dim() == 2, Error::InvalidArgument, "self: expected 2 dimensions, got %ld",
           static_cast<long>(self.dim()));
  RL_CHECK(p >= 0, Error::InvalidArgument, "p: expected 0 at least");
  if (!contains(kTypes, type)) return unsupported_type(type);
  RL_TRY(check_same_dtype(self, out, "self and out"));
  const ptrdiff_t rows = self.sizes()[0];
  // The product is formed in 64 bits: 2^31 rows squared do not fit in 32.
  const int64_t pairs = rows > 0 ? int64_t{rows} * (rows - 1) / 2 : 0;
  RL_CHECK(pairs <= INT32_MAX, Error::InvalidArgument, "self: expected fewer rows, got %ld",
           static_cast<long>(rows));
  const SizesType count = static_cast<SizesType>(pairs);
  RL_TRY(resize_out(out, {&count, 1}));
  char* result = out.mutable_data_ptr<char>();
  const char* const data = self.const_data_ptr<char>();
  const ptrdiff_t step = byte_stride(self, 1);
  const auto element = static_cast<ptrdiff_t>(out.element_size());
  for (ptrdiff_t i = 0; i < rows; ++i) {
    const ptrdiff_t next = byte_stride(self, 0);
    const ptrdiff_t left = rows - i - 1;
    if (left == 0) break;
    const char* const row = data + i * next;
    write_distances({row, step, row + next, step, self.sizes()[1], left, next}, p, type, result, element);
    result += left * element;
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels

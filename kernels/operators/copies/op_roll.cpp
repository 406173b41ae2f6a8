// SPDX-License-Identifier: BSD-3-Clause
// Roll: every rolled dimension consists of two parts that swap, so the result is at most 2^rank block copies.
// Without dims the roll is over the flattened elements.
#include "kernels/checks/sizes.h"
#include "kernels/walk/row_major.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// The new index of element 0 after a roll by `shift`, in [0, size). `size` is not 0.
ptrdiff_t wrap(int64_t shift, ptrdiff_t size) {
  return static_cast<ptrdiff_t>(shift % size < 0 ? shift % size + size : shift % size);
}

// Swaps the two parts of every dimension d, the second of which has shifts[d] elements. Bit d of `part`
// chooses the part. Empty parts are skipped.
Error roll(const View& target, const View& source, const ptrdiff_t* shifts) {
  for (uint32_t part = 0; part < uint32_t{1} << target.dim; ++part) {
    View to = target;
    View from = source;
    bool is_empty = false;
    for (size_t d = 0; d < target.dim; ++d) {
      const ptrdiff_t rest = target.sizes[d] - shifts[d];
      const bool wraps = (part >> d & 1u) != 0;
      to.slice(d, wraps ? 0 : shifts[d], wraps ? shifts[d] : rest);
      from.slice(d, wraps ? rest : 0, wraps ? shifts[d] : rest);
      is_empty = is_empty || to.sizes[d] == 0;
    }
    if (!is_empty) RL_TRY(copy_view(to, from));
  }
  return Error::Ok;
}

// Rolls the elements in row-major order of index, for tensors in any dim order.
void roll_elements(const Tensor& out, const Tensor& self, ptrdiff_t shift) {
  RowMajorCursor to(out);
  RowMajorCursor from(self);
  for (ptrdiff_t i = 0; i < shift; ++i) to.advance();
  // After the last element the cursor wraps to the first.
  for (size_t i = 0; i < self.numel(); ++i, to.advance(), from.advance()) {
    copy_elements(to.get(), 0, from.get(), 0, 1, self.element_size());
  }
}

}  // namespace

Error roll_out(KernelContext&, const Tensor& self, Span<const int64_t> shifts, Span<const int64_t> dims,
               Tensor& out) {
  RL_CHECK(shifts.size() == dims.size() ? !shifts.empty() : shifts.size() == 1 && dims.empty(),
           Error::InvalidArgument, "shifts: expected one for each dimension, got %lu for %lu",
           log_number(shifts.size()), log_number(dims.size()));
  RL_CHECK(self.scalar_type() == out.scalar_type(), Error::InvalidType, "out: expected dtype %s, got %s",
           to_string(self.scalar_type()), to_string(out.scalar_type()));
  ptrdiff_t distances[kTensorDimensionLimit] = {};
  for (size_t i = 0; i < dims.size(); ++i) {
    RL_CHECK(self.dim() > 0, Error::InvalidArgument, "self: expected at least one dimension");
    size_t d = 0;
    RL_TRY(normalize_dim(dims[i], self.dim(), &d));
    // Dimensions may repeat; their shifts add up. Reduced first, so that sums do not overflow.
    const ptrdiff_t size = self.sizes()[d];
    if (size > 0) distances[d] = wrap(distances[d] + wrap(shifts[i], size), size);
  }
  RL_TRY(resize_out(out, self.sizes()));
  if (out.numel() == 0) return Error::Ok;
  if (!dims.empty()) return roll(View::of(out), View::of(self), distances);

  distances[0] = wrap(shifts[0], static_cast<ptrdiff_t>(self.numel()));
  if (!is_row_major(out.dim_order(), out.sizes()) || !is_row_major(self.dim_order(), self.sizes())) {
    roll_elements(out, self, distances[0]);
    return Error::Ok;
  }
  const auto numel = static_cast<SizesType>(self.numel());
  return roll(View::row_major(out.mutable_data_ptr(), out.scalar_type(), {&numel, 1}),
              View::row_major(self.mutable_data_ptr(), self.scalar_type(), {&numel, 1}), distances);
}

}  // namespace rushlight::kernels

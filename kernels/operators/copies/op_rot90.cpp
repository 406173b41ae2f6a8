// SPDX-License-Identifier: BSD-3-Clause
// Rotation by k * 90 degrees in the plane of two dimensions: flips and a transpose of a view, then one copy.
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// Reverses a dimension of the view.
void flip(View* view, size_t d) {
  if (view->sizes[d] < 2) return;
  view->data += view->strides[d] * (view->sizes[d] - 1);
  view->strides[d] = -view->strides[d];
}

}  // namespace

Error rot90_out(KernelContext&, const Tensor& self, int64_t k, Span<const int64_t> dims, Tensor& out) {
  RL_CHECK(dims.size() == 2 && self.dim() >= 2, Error::InvalidArgument,
           "dims: expected 2, of a tensor of rank 2 at least, got %lu of one of rank %d",
           log_number(dims.size()), static_cast<int>(self.dim()));
  size_t from = 0;
  size_t to = 0;
  RL_TRY(normalize_dim(dims[0], self.dim(), &from));
  RL_TRY(normalize_dim(dims[1], self.dim(), &to));
  RL_CHECK(from != to, Error::InvalidArgument, "dims: expected two different values, got %ld twice",
           static_cast<long>(dims[0]));
  View source = View::of(self);
  // The remainder in C++ has the sign of k; negative k turn the other direction.
  const int64_t quarters = (k % 4 + 4) % 4;
  if (self.numel() > 0) {
    if (quarters == 1 || quarters == 2) flip(&source, to);
    if (quarters == 2 || quarters == 3) flip(&source, from);
  }
  if (quarters % 2 == 1) source.swap(from, to);
  return copy_to_out(source, out);
}

}  // namespace rushlight::kernels

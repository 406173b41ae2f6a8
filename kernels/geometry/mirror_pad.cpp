// SPDX-License-Identifier: BSD-3-Clause
// Padding [a b c] by two elements on both sides:
//
//   reflection    c b a b c b a
//   replication   a a a b c c c
#include "kernels/geometry/mirror_pad.h"

#include <algorithm>

#include "kernels/checks/checks.h"
#include "kernels/geometry/spatial_gather.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// Keeps sums of two amounts, and positions, within 32 bits.
constexpr int64_t kMostPadding = kSpatialLimit / 2;

// Mirrors at the first and the last element, which are not repeated. Amounts are below the size, so one
// reflection suffices.
ptrdiff_t reflect(const GatheredAxis& axis, ptrdiff_t index) {
  const ptrdiff_t position = index - axis.before;
  if (position < 0) return -position;
  return position < axis.in ? position : 2 * (axis.in - 1) - position;
}

// Positions outside take the nearest element.
ptrdiff_t replicate(const GatheredAxis& axis, ptrdiff_t index) {
  return std::min(std::max<ptrdiff_t>(index - axis.before, 0), axis.in - 1);
}

}  // namespace

Error pad_spatial(TypeSet types, Padding kind, size_t spatial, const Tensor& self,
                  Span<const int64_t> padding, const Tensor& out) {
  RL_TRY(check_same_dtype(self, out, "self and out"));
  if (!contains(types, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_TRY(check_spatial_tensor(self, spatial, "self"));
  RL_CHECK(padding.size() == 2 * spatial, Error::InvalidArgument, "padding: expected %lu values, got %lu",
           log_number(2 * spatial), log_number(padding.size()));
  const size_t kept = self.sizes().size() - spatial;
  GatheredAxis axes[kVolume] = {{1, 1, 0, 0}, {1, 1, 0, 0}, {1, 1, 0, 0}};
  Shape shape;
  bool has_some = false;
  for (size_t d = 0; d < kept; ++d) shape.push(self.sizes()[d]);
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t* amounts = &padding[2 * (spatial - 1 - i)];
    const int64_t size = self.sizes()[kept + i];
    for (size_t side = 0; side < 2; ++side) {
      RL_CHECK(amounts[side] >= -kMostPadding &&
                   amounts[side] < (kind == Padding::kReflection ? size : kMostPadding),
               Error::InvalidArgument, "padding: a dimension of size %ld cannot be padded by %ld",
               static_cast<long>(size), static_cast<long>(amounts[side]));
    }
    const int64_t total = size + amounts[0] + amounts[1];
    RL_CHECK(total >= 0 && total <= kSpatialLimit, Error::InvalidArgument,
             "padding: a dimension of size %ld would become %ld", static_cast<long>(size),
             static_cast<long>(total));
    has_some = has_some || total > 0;
    axes[kVolume - spatial + i] = {static_cast<ptrdiff_t>(size), static_cast<ptrdiff_t>(total),
                                   static_cast<ptrdiff_t>(amounts[0]), 0};
    shape.push(static_cast<ptrdiff_t>(total));
  }
  // PyTorch's rule: a size may become 0 only if another one does not.
  RL_CHECK(has_some, Error::InvalidArgument, "padding: nothing would be left");
  RL_TRY(resize_out(out, shape.span()));
  gather_positions(self, out, spatial, axes, kind == Padding::kReflection ? reflect : replicate);
  return Error::Ok;
}

}  // namespace rushlight::kernels

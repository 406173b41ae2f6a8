// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/geometry/pixel_shuffle.h"

#include "kernels/geometry/spatial.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

Error check_pixel_shuffle(TypeSet types, const Tensor& self, int64_t factor, const Tensor& out) {
  RL_TRY(check_same_dtype(self, out, "self and out"));
  if (!contains(types, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_CHECK(self.dim() >= 3, Error::InvalidArgument, "self: expected rank 3 at least, got %d",
           static_cast<int>(self.dim()));
  RL_CHECK(factor >= 1 && factor <= kSpatialLimit, Error::InvalidArgument,
           "the factor: expected 1 at least, got %ld", static_cast<long>(factor));
  return Error::Ok;
}

Error resize_image(const Tensor& self, int64_t channels, int64_t height, int64_t width, const Tensor& out) {
  const int64_t image[] = {channels, height, width};
  Shape shape;
  // All dimensions before the image stay.
  for (size_t d = 0; d + 3 < self.sizes().size(); ++d) shape.push(self.sizes()[d]);
  // Products of sizes and factor are 64-bit; a tensor's sizes have 32 bits.
  for (const int64_t size : image) {
    RL_CHECK(size <= kSpatialLimit, Error::InvalidArgument, "out: a size of %lld is too large",
             static_cast<long long>(size));
    shape.push(static_cast<ptrdiff_t>(size));
  }
  return resize_out(out, shape.span());
}

}  // namespace rushlight::kernels

// SPDX-License-Identifier: BSD-3-Clause
// Max-unpooling: scatters each value to the index that max pooling recorded; all other elements are 0. If an
// index repeats, the last value in row-major order remains. unpool() checks each index as it uses it.
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/geometry/unpool.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

Error unpool_to(TypeSet types, size_t spatial, const Tensor& self, const Tensor& indices,
                Span<const int64_t> output_size, const Tensor& out) {
  if (!contains(types, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_TRY(check_spatial_tensor(self, spatial, "self"));
  RL_CHECK(output_size.size() == spatial, Error::InvalidArgument, "output_size: expected %lu sizes, got %lu",
           log_number(spatial), log_number(output_size.size()));
  RL_TRY(check_spatial_list(output_size, spatial, 0, "output_size"));
  Shape shape;
  for (size_t d = 0; d < self.sizes().size() - spatial; ++d) shape.push(self.sizes()[d]);
  for (const int64_t size : output_size) shape.push(static_cast<ptrdiff_t>(size));
  RL_TRY(resize_out(out, shape.span()));
  return unpool(Unpooling::kCopy, spatial, self, indices, out);
}

}  // namespace

Error max_unpool2d_out(KernelContext&, const Tensor& self, const Tensor& indices,
                       Span<const int64_t> output_size, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::max_unpool2d.out");
  return unpool_to(kTypes, 2, self, indices, output_size, out);
}

Error max_unpool3d_out(KernelContext&, const Tensor& self, const Tensor& indices,
                       Span<const int64_t> output_size, Span<const int64_t> stride,
                       Span<const int64_t> padding, Tensor& out) {
  // Stride and padding are checked as PyTorch does; the result depends on output_size and the indices only.
  RL_TRY(check_spatial_list(stride, kVolume, 1, "stride"));
  RL_TRY(check_spatial_list(padding, kVolume, 0, "padding"));
  constexpr TypeSet kTypes = selected_types("aten::max_unpool3d.out");
  return unpool_to(kTypes, kVolume, self, indices, output_size, out);
}

}  // namespace rushlight::kernels

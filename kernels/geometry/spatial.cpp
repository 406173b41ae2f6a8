// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/geometry/spatial.h"

#include "runtime/base/log.h"

namespace rushlight::kernels {

// A list with one value applies to all spatial dimensions, as in PyTorch.
Error check_spatial_list(Span<const int64_t> list, size_t spatial, int64_t least, const char* name) {
  RL_CHECK(list.size() == 1 || list.size() == spatial, Error::InvalidArgument,
           "%s: expected 1 or %lu values, got %lu", name, static_cast<unsigned long>(spatial),
           static_cast<unsigned long>(list.size()));
  for (const int64_t value : list) {
    RL_CHECK(value >= least && value <= kSpatialLimit, Error::InvalidArgument,
             "%s: expected %ld at least, got %ld", name, static_cast<long>(least), static_cast<long>(value));
  }
  return Error::Ok;
}

Error check_spatial_tensor(const Tensor& tensor, size_t spatial, const char* name) {
  const auto rank = static_cast<size_t>(tensor.dim());
  RL_CHECK(rank == spatial + 1 || rank == spatial + 2, Error::InvalidArgument,
           "%s: expected rank %lu or %lu, got %lu", name, static_cast<unsigned long>(spatial + 1),
           static_cast<unsigned long>(spatial + 2), static_cast<unsigned long>(rank));
  // Channels and spatial dimensions; the batch, if there is one, may be empty.
  for (size_t d = rank - spatial - 1; d < rank; ++d) {
    RL_CHECK(tensor.sizes()[d] > 0, Error::InvalidArgument, "%s: dimension %lu is empty", name,
             static_cast<unsigned long>(d));
  }
  return Error::Ok;
}

View as_volume(const Tensor& tensor, size_t spatial) {
  // A missing batch, and missing outer dimensions, have size 1.
  View view = View::of(tensor);
  if (view.dim == spatial + 1) view.insert(0, 1, 0);
  while (view.dim < kVolume + 2) view.insert(2, 1, 0);
  return view;
}

}  // namespace rushlight::kernels

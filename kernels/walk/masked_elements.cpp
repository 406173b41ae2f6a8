// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/walk/masked_elements.h"

namespace rushlight::kernels {

// Sums instead of branches, so that compilers vectorize contiguous fibers.
SizesType count_true(const View& mask) {
  View view = mask;
  if (view.dim == 0) view.insert(0, 1, 0);
  SizesType count = 0;
  const Error error = for_each_fiber({&view, 1}, view.dim - 1, [&](const Fiber* fibers) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(fibers[0].data);
    if (fibers[0].stride == 1) {
      for (ptrdiff_t i = 0; i < fibers[0].size; ++i) count += bytes[i] != 0 ? 1 : 0;
    } else {
      for (ptrdiff_t i = 0; i < fibers[0].size; ++i) count += bytes[i * fibers[0].stride] != 0 ? 1 : 0;
    }
    return Error::Ok;
  });
  static_cast<void>(error);  // the callback returns no error
  return count;
}

Error check_mask_dtype(const Tensor& mask) {
  RL_CHECK(mask.scalar_type() == ScalarType::Bool, Error::InvalidType, "mask: expected dtype bool, got %s",
           to_string(mask.scalar_type()));
  return Error::Ok;
}

}  // namespace rushlight::kernels

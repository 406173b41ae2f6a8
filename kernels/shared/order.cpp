// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/order.h"

namespace rushlight::kernels {

Error check_indices_dtype(const Tensor& indices) {
  RL_CHECK(indices.scalar_type() == ScalarType::Long, Error::InvalidType,
           "out: expected dtype int64 for indices, got %s", to_string(indices.scalar_type()));
  return Error::Ok;
}

}  // namespace rushlight::kernels

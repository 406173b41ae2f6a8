// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/walk/masked_elements.h"

namespace rushlight::kernels {

Error check_mask_dtype(const Tensor& mask) {
  RL_CHECK(mask.scalar_type() == ScalarType::Bool, Error::InvalidType, "mask: expected dtype bool, got %s",
           to_string(mask.scalar_type()));
  return Error::Ok;
}

}  // namespace rushlight::kernels

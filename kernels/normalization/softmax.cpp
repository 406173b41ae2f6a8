// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/normalization/softmax.h"

#include "kernels/checks/checks.h"

namespace rushlight::kernels {

Error check_softmax_types(const Tensor& self, bool half_to_float, const Tensor& out) {
  if (!half_to_float) return check_same_dtype(self, out, "self and out");
  RL_CHECK(self.scalar_type() == ScalarType::Half, Error::InvalidType,
           "self: half_to_float expects dtype float16, got %s", to_string(self.scalar_type()));
  RL_CHECK(out.scalar_type() == ScalarType::Float, Error::InvalidType,
           "out: half_to_float expects dtype float32, got %s", to_string(out.scalar_type()));
  return Error::Ok;
}

}  // namespace rushlight::kernels

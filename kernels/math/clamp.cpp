// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/math/clamp.h"

#include "kernels/checks/scalar_range.h"
#include "runtime/base/log.h"

namespace rushlight::kernels {

Error check_fits(const Scalar& value, ScalarType type, const char* name) {
  RL_TRY(check_scalar_range(value, type, name));
  if (!contains(types::kIntegral, type) || type == ScalarType::Long) return Error::Ok;
  // At most 32 bits, as int64 returned above.
  const int64_t count = int64_t{1} << (8 * element_size(type));
  const int64_t lowest = type == ScalarType::Byte ? 0 : -count / 2;
  const auto number = value.to<int64_t>();
  RL_CHECK(number >= lowest && number < lowest + count, Error::InvalidArgument, "%s: %s does not hold %ld",
           name, to_string(type), static_cast<long>(number));
  return Error::Ok;
}

}  // namespace rushlight::kernels

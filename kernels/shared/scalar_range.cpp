// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/scalar_range.h"

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "runtime/base/log.h"

namespace rushlight::kernels {

namespace {

// The largest finite number; for an unsigned type also how far negative numbers go.
double largest_of(ScalarType type) {
  switch (type) {
    case ScalarType::Half:
      return 65504.0;
    case ScalarType::BFloat16:
      return 3.38953138925153547590e38;
    case ScalarType::Float:
      return FLT_MAX;
    case ScalarType::Byte:
      return UINT8_MAX;
    case ScalarType::Char:
      return INT8_MAX;
    case ScalarType::Short:
      return INT16_MAX;
    case ScalarType::UInt16:
      return UINT16_MAX;
    case ScalarType::Int:
      return INT32_MAX;
    case ScalarType::UInt32:
      return UINT32_MAX;
    default:
      return DBL_MAX;
  }
}

bool fits(const Scalar& value, ScalarType type) {
  if (type == ScalarType::Bool || type == ScalarType::Double || is_complex(type)) return true;
  const double number = value.to<double>();
  if (is_floating(type)) return !std::isfinite(number) || std::fabs(number) <= largest_of(type);
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (value.is_floating() && !(number >= -kTwoTo63 && number < kTwoTo63)) return false;
  if (type == ScalarType::Long || type == ScalarType::UInt64) return true;
  const bool is_signed = type == ScalarType::Char || type == ScalarType::Short || type == ScalarType::Int;
  return number <= largest_of(type) && number >= -largest_of(type) - (is_signed ? 1 : 0);
}

}  // namespace

Error check_scalar_range(const Scalar& value, ScalarType type, const char* name) {
  RL_CHECK(fits(value, type), Error::InvalidArgument, "%s: expected a number that %s can hold, got %g", name,
           to_string(type), value.to<double>());
  return Error::Ok;
}

}  // namespace rushlight::kernels

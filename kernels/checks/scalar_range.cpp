// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/scalar_range.h"

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "runtime/base/log.h"

namespace rushlight::kernels {

namespace {

// The largest finite value of a floating type.
double largest_floating(ScalarType type) {
  switch (type) {
    case ScalarType::Half:
      return 65504.0;
    case ScalarType::BFloat16:
      return 3.38953138925153547590e38;
    case ScalarType::Float:
      return FLT_MAX;
    default:
      return DBL_MAX;
  }
}

// The largest value of an integer type; its negative is also the lower limit for unsigned types.
double largest_integer(ScalarType type) {
  switch (type) {
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
    default:
      return UINT32_MAX;
  }
}

// Infinity and NaN fit; finite numbers that would become infinite do not.
bool fits_floating(double number, ScalarType type) {
  return !std::isfinite(number) || std::fabs(number) <= largest_floating(type);
}

// bool takes any number, as value != 0; complex dtypes are not checked.
bool fits(const Scalar& value, double number, ScalarType type) {
  if (type == ScalarType::Bool || is_complex(type)) return true;
  if (is_floating(type)) return fits_floating(number, type);
  constexpr double kTwoTo63 = 9223372036854775808.0;
  // The conversion of larger floats to int64 would be undefined.
  if (value.is_floating() && !(number >= -kTwoTo63 && number < kTwoTo63)) return false;
  if (type == ScalarType::Long || type == ScalarType::UInt64) return true;
  // PyTorch lets negative numbers wrap in unsigned dtypes, so their lower limit is -largest.
  const bool is_signed = type == ScalarType::Char || type == ScalarType::Short || type == ScalarType::Int;
  return number <= largest_integer(type) && number >= -largest_integer(type) - (is_signed ? 1 : 0);
}

Error check(bool holds, double number, ScalarType type, const char* name) {
  RL_CHECK(holds, Error::InvalidArgument, "%s: expected a number that %s can hold, got %g", name,
           to_string(type), number);
  return Error::Ok;
}

}  // namespace

Error check_scalar_range(const Scalar& value, ScalarType type, const char* name) {
  const double number = value.to<double>();
  return check(fits(value, number, type), number, type, name);
}

Error check_floating_range(const Scalar& value, ScalarType type, const char* name) {
  const double number = value.to<double>();
  return check(fits_floating(number, type), number, type, name);
}

}  // namespace rushlight::kernels

// SPDX-License-Identifier: BSD-3-Clause
// Comparisons of int with float are exact: a conversion of int64 to double would round above 2^53.
#include "kernels/elements/number.h"

#include <cmath>

namespace rushlight::kernels {

namespace {

// 2^63, the first double above every int64.
constexpr double kIntegerEnd = 9223372036854775808.0;

template <class T>
int order_of(T a, T b) {
  return a < b ? -1 : (a > b ? 1 : 0);
}

// Precondition: b is not NaN.
int compare_mixed(int64_t a, double b) {
  if (b >= kIntegerEnd) return -1;
  if (b < -kIntegerEnd) return 1;
  // Compares the integer parts exactly; if they are equal, the fraction of b decides.
  const double whole = std::trunc(b);
  const int order = order_of(a, static_cast<int64_t>(whole));
  return order != 0 ? order : order_of(whole, b);
}

}  // namespace

Error check_number(const EValue& value, const char* name) {
  RL_CHECK(value.is_int() || value.is_double() || value.is_bool(), Error::InvalidType,
           "%s: expected a number, got %s", name, to_string(value.tag));
  return Error::Ok;
}

Error check_integer(const EValue& value, const char* name) {
  RL_CHECK(value.is_int() || value.is_bool(), Error::InvalidType, "%s: expected an integer, got %s", name,
           to_string(value.tag));
  return Error::Ok;
}

Error write_number(EValue& out, const EValue& value) {
  RL_TRY(check_number(out, "out"));
  out.payload = value.payload;
  out.tag = value.tag;
  return Error::Ok;
}

Error write_integral(EValue& out, double value) {
  // -2^63 is an int64, 2^63 is not; NaN fails both comparisons.
  RL_CHECK(value >= -kIntegerEnd && value < kIntegerEnd, Error::InvalidArgument,
           "a: expected an int64, got %g", value);
  return write_number(out, EValue(static_cast<int64_t>(value)));
}

bool compare_numbers(const EValue& a, const EValue& b, int* order) {
  if (std::isnan(a.to_double()) || std::isnan(b.to_double())) return false;
  if (a.is_double() == b.is_double()) {
    *order = a.is_double() ? order_of(a.to_double(), b.to_double()) : order_of(a.to_int(), b.to_int());
  } else if (b.is_double()) {
    *order = compare_mixed(a.to_int(), b.to_double());
  } else {
    *order = -compare_mixed(b.to_int(), a.to_double());
  }
  return true;
}

}  // namespace rushlight::kernels

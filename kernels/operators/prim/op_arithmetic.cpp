// SPDX-License-Identifier: BSD-3-Clause
// Python's arithmetic on scalars: two ints give an int, except in true division; otherwise the result is a
// float. A bool counts as an int. A Python exception and an int beyond 64 bits become an Error.
#include <cmath>

#include "kernels/elements/number.h"
#include "kernels/math/arithmetic.h"
#include "runtime/base/checked.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// `integers` writes the result for two ints and returns true if it fits; `doubles` returns the result for
// floats.
template <class Integers, class Doubles>
Error calculate(const EValue& a, const EValue& b, EValue& out, Integers integers, Doubles doubles) {
  RL_TRY(check_number(a, "a"));
  RL_TRY(check_number(b, "b"));
  if (a.is_double() || b.is_double()) return write_number(out, EValue(doubles(a.to_double(), b.to_double())));
  int64_t result = 0;
  RL_CHECK(integers(a.to_int(), b.to_int(), &result), Error::InvalidArgument,
           "a and b: the result overflows 64 bits");
  return write_number(out, EValue(result));
}

Error check_divisor(const EValue& b) {
  RL_TRY(check_number(b, "b"));
  RL_CHECK(b.to_double() != 0, Error::InvalidArgument, "b: division by zero");
  return Error::Ok;
}

}  // namespace

Error prim_add(KernelContext&, const EValue& a, const EValue& b, EValue& out) {
  return calculate(
      a, b, out, [](int64_t x, int64_t y, int64_t* sum) { return checked_add(x, y, sum); },
      [](double x, double y) { return x + y; });
}

Error prim_sub(KernelContext&, const EValue& a, const EValue& b, EValue& out) {
  return calculate(
      a, b, out,
      [](int64_t x, int64_t y, int64_t* difference) { return !__builtin_sub_overflow(x, y, difference); },
      [](double x, double y) { return x - y; });
}

Error prim_mul(KernelContext&, const EValue& a, const EValue& b, EValue& out) {
  return calculate(
      a, b, out, [](int64_t x, int64_t y, int64_t* product) { return checked_mul(x, y, product); },
      [](double x, double y) { return x * y; });
}

Error prim_floordiv(KernelContext&, const EValue& a, const EValue& b, EValue& out) {
  RL_TRY(check_divisor(b));
  return calculate(
      a, b, out,
      // The only quotient of two ints beyond 64 bits.
      [](int64_t x, int64_t y, int64_t* quotient) {
        *quotient = floored_divide(x, y);
        return !(x == INT64_MIN && y == -1);
      },
      [](double x, double y) { return floored_divide(x, y); });
}

// The overload whose schema has two ints: the program may still hold a float, which is an error here.
Error prim_floordiv_int(KernelContext& context, const EValue& a, const EValue& b, EValue& out) {
  RL_TRY(check_integer(a, "a"));
  RL_TRY(check_integer(b, "b"));
  return prim_floordiv(context, a, b, out);
}

// Always a float: ints beyond 2^53 are rounded before they are divided, unlike in Python.
Error prim_truediv(KernelContext&, const EValue& a, const EValue& b, EValue& out) {
  RL_TRY(check_number(a, "a"));
  RL_TRY(check_divisor(b));
  return write_number(out, EValue(a.to_double() / b.to_double()));
}

Error prim_mod(KernelContext&, const EValue& a, const EValue& b, EValue& out) {
  RL_TRY(check_divisor(b));
  return calculate(
      a, b, out,
      [](int64_t x, int64_t y, int64_t* remainder) {
        *remainder = floored_remainder(x, y);
        return true;
      },
      // Python gives a zero remainder the sign of the divisor.
      [](double x, double y) {
        const double remainder = floored_remainder(x, y);
        return remainder == 0 ? std::copysign(0.0, y) : remainder;
      });
}

Error prim_mod_int(KernelContext& context, const EValue& a, const EValue& b, EValue& out) {
  RL_TRY(check_integer(a, "a"));
  RL_TRY(check_integer(b, "b"));
  return prim_mod(context, a, b, out);
}

// 0 - a, which refuses the least int; a bool becomes an int.
Error prim_neg(KernelContext& context, const EValue& a, EValue& out) {
  RL_TRY(check_number(a, "a"));
  if (a.is_double()) return write_number(out, EValue(-a.to_double()));
  return prim_sub(context, EValue(int64_t{0}), a, out);
}

}  // namespace rushlight::kernels

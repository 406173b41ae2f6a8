// SPDX-License-Identifier: BSD-3-Clause
// Conversions between ints and floats. Rounding gives an int, as in Python.
#include <cmath>

#include "kernels/elements/number.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// InvalidArgument for NaN and values beyond int64, for which Python has errors or larger ints.
template <class Round>
Error round_to_integer(const EValue& a, EValue& out, Round round) {
  RL_TRY(check_number(a, "a"));
  if (a.is_double()) return write_integral(out, round(a.to_double()));
  return write_number(out, EValue(a.to_int()));
}

// Rounds halves to even, independent of the rounding mode of the floating-point unit.
double round_half_even(double value) {
  const double down = std::floor(value);
  const double above = value - down;
  if (above != 0.5) return above < 0.5 ? down : down + 1;
  return std::fmod(down, 2.0) == 0 ? down : down + 1;
}

}  // namespace

Error prim_ceil(KernelContext&, const EValue& a, EValue& out) {
  return round_to_integer(a, out, [](double value) { return std::ceil(value); });
}

Error prim_round(KernelContext&, const EValue& a, EValue& out) {
  return round_to_integer(a, out, [](double value) { return round_half_even(value); });
}

Error prim_trunc(KernelContext&, const EValue& a, EValue& out) {
  return round_to_integer(a, out, [](double value) { return std::trunc(value); });
}

// int() in Python truncates.
Error prim_sym_int(KernelContext& context, const EValue& a, EValue& out) {
  return prim_trunc(context, a, out);
}

// An int beyond 2^53 is rounded.
Error prim_sym_float(KernelContext&, const EValue& a, EValue& out) {
  RL_TRY(check_number(a, "a"));
  return write_number(out, EValue(a.to_double()));
}

}  // namespace rushlight::kernels

// SPDX-License-Identifier: BSD-3-Clause
// Comparison and selection of scalars. NaN is unordered and unequal to everything.
#include "kernels/elements/number.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// `holds` takes the order of a and b as in compare_numbers; `of_nan` is the result for NaN.
template <class Holds>
Error compare(const EValue& a, const EValue& b, EValue& out, bool of_nan, Holds holds) {
  RL_TRY(check_number(a, "a"));
  RL_TRY(check_number(b, "b"));
  int order = 0;
  const bool ordered = compare_numbers(a, b, &order);
  return write_number(out, EValue(ordered ? holds(order) : of_nan));
}

// If either operand is a float, so is the result: its type does not depend on the values.
template <class Takes>
Error choose(const EValue& a, const EValue& b, EValue& out, Takes takes_b) {
  RL_TRY(check_number(a, "a"));
  RL_TRY(check_number(b, "b"));
  int order = 0;
  const EValue chosen = compare_numbers(a, b, &order) && takes_b(order) ? b : a;
  if (a.is_double() || b.is_double()) return write_number(out, EValue(chosen.to_double()));
  return write_number(out, chosen);
}

// NaN is true, as in Python. An int that is not 0 does not become 0 in double.
bool is_true(const EValue& number) { return number.to_double() != 0; }

}  // namespace

// Ints and floats compare exactly, also beyond 2^53: compare_numbers() does not convert one to the other.
Error prim_eq(KernelContext&, const EValue& a, const EValue& b, EValue& out) {
  return compare(a, b, out, false, [](int order) { return order == 0; });
}

Error prim_ne(KernelContext&, const EValue& a, const EValue& b, EValue& out) {
  return compare(a, b, out, true, [](int order) { return order != 0; });
}

Error prim_gt(KernelContext&, const EValue& a, const EValue& b, EValue& out) {
  return compare(a, b, out, false, [](int order) { return order > 0; });
}

Error prim_lt(KernelContext&, const EValue& a, const EValue& b, EValue& out) {
  return compare(a, b, out, false, [](int order) { return order < 0; });
}

Error prim_ge(KernelContext&, const EValue& a, const EValue& b, EValue& out) {
  return compare(a, b, out, false, [](int order) { return order >= 0; });
}

Error prim_le(KernelContext&, const EValue& a, const EValue& b, EValue& out) {
  return compare(a, b, out, false, [](int order) { return order <= 0; });
}

Error prim_sym_max(KernelContext&, const EValue& a, const EValue& b, EValue& out) {
  return choose(a, b, out, [](int order) { return order < 0; });
}

Error prim_sym_min(KernelContext&, const EValue& a, const EValue& b, EValue& out) {
  return choose(a, b, out, [](int order) { return order > 0; });
}

Error prim_sym_not(KernelContext&, const EValue& a, EValue& out) {
  RL_TRY(check_number(a, "a"));
  return write_number(out, EValue(!is_true(a)));
}

// Only the chosen branch must be a number.
Error prim_sym_ite(KernelContext&, const EValue& b, const EValue& t, const EValue& f, EValue& out) {
  RL_TRY(check_number(b, "b"));
  const EValue chosen = is_true(b) ? t : f;
  RL_TRY(check_number(chosen, is_true(b) ? "t" : "f"));
  return write_number(out, chosen);
}

}  // namespace rushlight::kernels

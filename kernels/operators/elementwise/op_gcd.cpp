// SPDX-License-Identifier: BSD-3-Clause
// Greatest common divisor, by Euclid's algorithm, and least common multiple. Results are not negative, unless
// the type cannot hold the magnitude: then they wrap.
#include "kernels/checks/selection.h"
#include "kernels/elements/promotion.h"
#include "kernels/math/arithmetic.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// gcd(x, 0) is |x|, so gcd(0, 0) is 0. At most about 90 steps for 64 bits (Lame).
template <class T>
T greatest_divisor(T a, T b) {
  while (b != T(0)) {
    const T left = truncated_remainder(a, b);
    a = b;
    b = left;
  }
  // The last remainder may be negative, as truncated remainders have the sign of the dividend.
  return is_negative(a) ? wrapping_subtract(T(0), a) : a;
}

// Computed in int64; the caller narrows the result, so that overflow wraps as in PyTorch.
int64_t least_multiple(int64_t a, int64_t b) {
  const int64_t divisor = greatest_divisor(a, b);
  if (divisor == 0) return 0;
  // Divides first, so that only a multiple that does not fit overflows.
  const int64_t multiple = wrapping_multiply(truncated_divide(a, divisor), b);
  return multiple < 0 ? wrapping_subtract(int64_t{0}, multiple) : multiple;
}

}  // namespace

Error gcd_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::gcd.out");
  const auto function = [](auto a, auto b) { return greatest_divisor(a, b); };
  return elementwise<kTypes>(out, function, self, other);
}

Error lcm_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::lcm.out");
  const auto function = [](auto a, auto b) { return static_cast<decltype(a)>(least_multiple(a, b)); };
  return elementwise<kTypes>(out, function, self, other);
}

}  // namespace rushlight::kernels

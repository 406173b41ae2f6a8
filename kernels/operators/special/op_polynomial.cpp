// SPDX-License-Identifier: BSD-3-Clause
// Orthogonal polynomials by their three-term recurrences (DLMF 18.9), n steps for degree n. Chebyshev
// polynomials of high degree use the trigonometric form within [-1, 1], in constant time.
#include <cmath>

#include "kernels/math/double_function.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

enum class Family : uint8_t { kT, kU, kV, kW, kHermite, kHermiteE, kLaguerre, kLegendre };

// Chebyshev polynomials within [-1, 1] in closed form, where long recurrences would lose digits. The third
// and fourth kind as in Mason and Handscomb, "Chebyshev Polynomials", 2003. x = +-1, where the denominators
// vanish, never comes here.
double chebyshev(Family family, double x, double n) {
  // x = cos(angle)
  const double angle = std::acos(x);
  switch (family) {
    case Family::kT:
      return std::cos(n * angle);
    case Family::kU:
      return std::sin((n + 1) * angle) / std::sin(angle);
    case Family::kV:
      return std::cos((n + 0.5) * angle) / std::cos(angle / 2);
    default:
      return std::sin((n + 0.5) * angle) / std::sin(angle / 2);
  }
}

// Degree 0 is 1 in all families; degree 1 and the recurrence differ.
double first_degree(Family family, double x) {
  switch (family) {
    case Family::kU:
    case Family::kHermite:
      return 2 * x;
    case Family::kV:
      return 2 * x - 1;
    case Family::kW:
      return 2 * x + 1;
    case Family::kLaguerre:
      return 1 - x;
    default:
      return x;
  }
}

// The polynomial of degree k + 1 from `last`, of degree k, and `before`, of degree k - 1.
double next_degree(Family family, double x, double k, double last, double before) {
  switch (family) {
    case Family::kHermite:
      return 2 * (x * last - k * before);
    case Family::kHermiteE:
      return x * last - k * before;
    case Family::kLaguerre:
      return ((2 * k + 1 - x) * last - k * before) / (k + 1);
    case Family::kLegendre:
      return ((2 * k + 1) * x * last - k * before) / (k + 1);
    default:
      return 2 * x * last - before;
  }
}

// The degree is truncated to an integer. Negative degrees give 0; degrees too high to compute give NaN. Once
// values overflow, the next difference is NaN, which ends the loop. Builds for speed have a copy for each
// family, whose steps do not test which it is.
#ifndef __OPTIMIZE_SIZE__
[[gnu::always_inline]] inline
#endif
    double
    polynomial(Family family, double x, double n) {
  constexpr double kLongRecurrence = 64;
  constexpr double kHighestDegree = 1 << 20;
  if (n <= -1) return 0;
  if (n < 1) return 1;
  const bool is_chebyshev = family <= Family::kW;
  if (is_chebyshev && n >= kLongRecurrence + 1 && std::fabs(x) < 1)
    return chebyshev(family, x, std::trunc(n));
  if (!(n < kHighestDegree + 1)) return NAN;
  const auto degree = static_cast<double>(static_cast<int32_t>(n));
  double before = 1;
  double last = first_degree(family, x);
  for (double k = 1; k < degree && !std::isnan(last); k += 1) {
    const double next = next_degree(family, x, k, last, before);
    before = last;
    last = next;
  }
  return last;
}

#ifdef __OPTIMIZE_SIZE__
template <Family kFamily>
double of(double x, double n) {
  return polynomial(kFamily, x, n);
}
#else
template <Family kFamily>
[[gnu::noinline]] double climb(double x, double n) {
  return polynomial(kFamily, x, n);
}

// Short enough to be inlined into loops: degrees that need no recurrence take no call.
template <Family kFamily>
double of(double x, double n) {
  if (n < 1) return n <= -1 ? 0 : 1;
  return climb<kFamily>(x, n);
}
#endif

// The argument shifted from [0, 1] to [-1, 1].
template <Family kFamily>
double shifted(double x, double n) {
  return of<kFamily>(2 * x - 1, n);
}

}  // namespace

// The three overloads of one polynomial.
#define RL_POLYNOMIAL(name, function)                                                                    \
  Error special_##name##_out(KernelContext&, const Tensor& x, const Tensor& n, Tensor& out) {            \
    return double_function<selected_types("aten::special_" #name ".out"), function>(x, n, out);          \
  }                                                                                                      \
  Error special_##name##_x_scalar_out(KernelContext&, const Scalar& x, const Tensor& n, Tensor& out) {   \
    return double_function<selected_types("aten::special_" #name ".x_scalar_out"), function>(x, n, out); \
  }                                                                                                      \
  Error special_##name##_n_scalar_out(KernelContext&, const Tensor& x, const Scalar& n, Tensor& out) {   \
    return double_function<selected_types("aten::special_" #name ".n_scalar_out"), function>(x, n, out); \
  }

RL_POLYNOMIAL(chebyshev_polynomial_t, of<Family::kT>)
RL_POLYNOMIAL(chebyshev_polynomial_u, of<Family::kU>)
RL_POLYNOMIAL(chebyshev_polynomial_v, of<Family::kV>)
RL_POLYNOMIAL(chebyshev_polynomial_w, of<Family::kW>)
RL_POLYNOMIAL(shifted_chebyshev_polynomial_t, shifted<Family::kT>)
RL_POLYNOMIAL(shifted_chebyshev_polynomial_u, shifted<Family::kU>)
RL_POLYNOMIAL(shifted_chebyshev_polynomial_v, shifted<Family::kV>)
RL_POLYNOMIAL(shifted_chebyshev_polynomial_w, shifted<Family::kW>)
RL_POLYNOMIAL(hermite_polynomial_h, of<Family::kHermite>)
RL_POLYNOMIAL(hermite_polynomial_he, of<Family::kHermiteE>)
RL_POLYNOMIAL(laguerre_polynomial_l, of<Family::kLaguerre>)
RL_POLYNOMIAL(legendre_polynomial_p, of<Family::kLegendre>)

#undef RL_POLYNOMIAL

}  // namespace rushlight::kernels

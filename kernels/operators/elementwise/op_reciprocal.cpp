// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <type_traits>

#include "kernels/backs/backs.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

#ifndef __OPTIMIZE_SIZE__
namespace {

// Double holds the squares of floats, so that their quotients need no scaling. With one infinite part the
// product of the other is the result, 0.
template <class T>
[[gnu::always_inline]] inline Complex<T> short_reciprocal(Complex<T> z) {
  if constexpr (std::is_same_v<T, double>) {
    return complex_reciprocal(z);
  } else {
    constexpr double kLargest = std::numeric_limits<float>::max();
    const double square = double{z.real} * double{z.real} + double{z.imag} * double{z.imag};
    const double inverse = 1 / square;
    const double real = double{z.real} * inverse;
    const double imag = -double{z.imag} * inverse;
    const bool is_finite = z.real >= -kLargest && z.real <= kLargest;
    const double other = is_finite ? real : imag;
    const bool is_infinite = square > 4 * kLargest * kLargest;
    return {static_cast<T>(square == 0 ? inverse : (is_infinite ? other : real)),
            static_cast<T>(is_infinite ? other : imag)};
  }
}

}  // namespace
#endif

Error reciprocal_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::reciprocal.out");
  return backs::reciprocal_out(context, FloatingProblem<kTypes>{self, out}, [&] {
    if constexpr ((kTypes & types::kComplex) != 0) {
      if (is_complex(self.scalar_type())) {
#ifdef __OPTIMIZE_SIZE__
        return complex_function(self, out, complex_reciprocal);
#else
        const auto f = [](auto z) __attribute__((always_inline)) { return short_reciprocal(z); };
        return elementwise<(kTypes & types::kComplex), Signs::kIgnored>(self.scalar_type(), out, f, self);
#endif
      }
    }
    return floating_function<kTypes>(self, out, [](auto x) { return decltype(x)(1) / x; });
  });
}

}  // namespace rushlight::kernels

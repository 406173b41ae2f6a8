// SPDX-License-Identifier: BSD-3-Clause
// Elementwise division with the three rounding modes of PyTorch: none (true division), "trunc" and "floor".
// Floating division by 0 gives inf or NaN; integer division by 0 is an error, as in PyTorch.
#pragma once

#include <cmath>
#include <optional>
#include <string_view>

#include "kernels/elements/promotion.h"
#include "kernels/math/arithmetic.h"
#include "kernels/math/complex_function.h"
#include "kernels/math/rounding.h"
#include "kernels/walk/elementwise.h"

namespace rushlight::kernels {

// kTruncate rounds the quotient toward 0, kFloor toward minus infinity.
enum class Rounding : uint8_t { kNone, kTruncate, kFloor };

// Reads the schema's `str? rounding_mode`. InvalidArgument for an unknown mode.
Error parse_rounding(std::optional<std::string_view> mode, Rounding* rounding);

// The dtype in which PyTorch divides: floating for true division, else the promoted dtype.
inline ScalarType division_type(ScalarType promoted, Rounding rounding) {
  return rounding == Rounding::kNone ? floating_type(promoted) : promoted;
}

// InvalidArgument if an integer was divided by zero. Called once after the loop, so that the loop needs no
// early exit.
Error check_no_division_by_zero(bool happened);

// One rounded quotient. An integer divisor of 0 sets *by_zero and gives 0, instead of a trap of the
// processor. Floating quotients follow IEEE 754.
template <class T, class F>
inline T checked_quotient(T a, T b, bool* by_zero, F divide) {
  if constexpr (!std::is_floating_point_v<T>) {
    if (b == T(0)) {
      *by_zero = true;
      return T(0);
    }
  }
  return divide(a, b);
}

// out = self / other, rounded by kRounding: truncated or floored. Two sets of loops, since compilers
// vectorize truncated floating quotients only. Errors: as divide().
template <TypeSet kTypes, Rounding kRounding>
Error divide_rounded(ScalarType compute, const Tensor& self, const Tensor& other, Tensor& out) {
  bool by_zero = false;
  // A factory, since the function keeps a reference to by_zero.
  const auto quotient = [&](auto type) {
    using T = typename decltype(type)::Element;
    return [&by_zero](T a, T b) {
      return checked_quotient(a, b, &by_zero, [](T x, T y) {
        if constexpr (kRounding == Rounding::kFloor) {
          return floored_divide(x, y);
        } else if constexpr (std::is_floating_point_v<T>) {
          return rounded_to_zero(x / y);
        } else {
          return truncated_divide(x, y);
        }
      });
    };
  };
  RL_TRY((elementwise_for<kTypes, Signs::kMatter, Numbers::kExact>(compute, out, quotient, self, other)));
  return check_no_division_by_zero(by_zero);
}

// out = self / other, rounded, computed in the dtype of division_type(). Complex elements are only divided
// without rounding. InvalidArgument (shapes, integer division by zero; `out` has been written then),
// InvalidType.
template <TypeSet kTypes>
Error divide(ScalarType compute, Rounding rounding, const Tensor& self, const Tensor& other, Tensor& out) {
  if constexpr ((kTypes & types::kComplex) != 0) {
    if (contains(kTypes & types::kComplex, compute) && rounding == Rounding::kNone) {
      return short_complex_function<kTypes, complex_divide>(compute, self, other, out);
    }
  }
  // Other dtypes are divided only after promotion to a floating dtype.
  constexpr TypeSet kReal = kTypes & types::kReal;
  switch (rounding) {
    case Rounding::kFloor:
      return divide_rounded<kReal, Rounding::kFloor>(compute, self, other, out);
    case Rounding::kTruncate:
      return divide_rounded<kReal, Rounding::kTruncate>(compute, self, other, out);
    default:
      return elementwise<(kReal & types::kFloating), Signs::kMatter, Numbers::kExact>(
          compute, out, [](auto a, auto b) { return a / b; }, self, other);
  }
}

}  // namespace rushlight::kernels

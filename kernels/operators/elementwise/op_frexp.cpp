// SPDX-License-Identifier: BSD-3-Clause
// frexp: mantissa with magnitude in [0.5, 1), and exponent of 2. Two elementwise passes, one for each output,
// reuse the loop of single-output functions. The exponent of 0, infinities and NaN is 0. 16-bit floats
// compute in float, which is exact.
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/checks/selection.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// The mantissa and the exponent by the bits of a number, so that loops vectorize.
template <class T>
struct Split {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  static constexpr int kFraction = sizeof(T) == 4 ? 23 : 52;
  static constexpr Bits kExponents = sizeof(T) == 4 ? 0xff : 0x7ff;
  static constexpr Bits kHalf = kExponents / 2 - 1;  // the exponent bits of 1/2

  T mantissa;
  int32_t exponent;

  explicit Split(T x) {
    const bool is_small = std::fabs(x) < std::numeric_limits<T>::min();
    // A subnormal number becomes a normal one.
    const T normal = x * (is_small ? T(Bits{1} << (kFraction + 1)) : T(1));
    Bits bits;
    std::memcpy(&bits, &normal, sizeof bits);
    const Bits exponents = (bits >> kFraction) & kExponents;
    const bool is_kept = x == T(0) || exponents == kExponents;  // zeros, infinities and NaN
    bits = (bits & ~(kExponents << kFraction)) | (kHalf << kFraction);
    Bits original;
    std::memcpy(&original, &x, sizeof bits);
    bits = is_kept ? original : bits;
    std::memcpy(&mantissa, &bits, sizeof bits);
    const int32_t power = static_cast<int32_t>(exponents) - static_cast<int32_t>(kHalf);
    exponent = is_kept ? 0 : power - (is_small ? kFraction + 1 : 0);
  }
};

struct Mantissa {
  template <class T>
  T operator()(T x) const {
    return Split<T>(x).mantissa;
  }
};

struct Exponent {
  template <class T>
  int32_t operator()(T x) const {
    return Split<T>(x).exponent;
  }
};

template <class T, class Out, class F>
inline constexpr RowFunction kRow = &internal::elementwise_row<T, Out, internal::SameForAllTypes<F>, 0>;

}  // namespace

// Computes the exponents first: `self` and `mantissa` may share memory.
Error frexp_Tensor_out(KernelContext&, const Tensor& self, Tensor& mantissa, Tensor& exponent) {
  constexpr TypeSet kTypes = selected_types("aten::frexp.Tensor_out") & types::kFloating;
  const ScalarType type = self.scalar_type();
  RL_TRY(check_same_dtype(self, mantissa, "self and mantissa"));
  RL_CHECK(exponent.scalar_type() == ScalarType::Int, Error::InvalidType,
           "exponent: expected dtype int32, got %s", to_string(exponent.scalar_type()));
  if (!contains(kTypes, type)) return unsupported_type(type);
  const ScalarType computed = computed_type(type);
  const Tensor* const inputs[] = {&self};
  return dispatch<computed_in(kTypes)>(computed, [&](auto element) {
    using T = typename decltype(element)::Element;
    RL_TRY(run_elementwise(
        {inputs, 1}, exponent,
        {type, computed, ScalarType::Int, Numbers::kRounded, kRow<T, int32_t, Exponent>, &type}));
    return run_elementwise({inputs, 1}, mantissa,
                           {type, computed, computed, Numbers::kRounded, kRow<T, T, Mantissa>, &type});
  });
}

}  // namespace rushlight::kernels

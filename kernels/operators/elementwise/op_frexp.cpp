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

#ifdef __OPTIMIZE_SIZE__
template <class T>
// std::frexp leaves the exponent of infinities and NaN unspecified.
T split(T x, int* exponent) {
  *exponent = 0;
  return std::isfinite(x) ? std::frexp(x, exponent) : x;
}

template <class T>
void mantissa_row(const void*, char* const* pointers, const ptrdiff_t* strides, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const auto at = static_cast<ptrdiff_t>(i);
    int exponent = 0;
    *reinterpret_cast<T*>(pointers[0] + at * strides[0]) =
        split(*reinterpret_cast<const T*>(pointers[1] + at * strides[1]), &exponent);
  }
}

template <class T>
void exponent_row(const void*, char* const* pointers, const ptrdiff_t* strides, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const auto at = static_cast<ptrdiff_t>(i);
    int exponent = 0;
    static_cast<void>(split(*reinterpret_cast<const T*>(pointers[1] + at * strides[1]), &exponent));
    *reinterpret_cast<int32_t*>(pointers[0] + at * strides[0]) = exponent;
  }
}
#else
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

template <class T>
inline constexpr RowFunction mantissa_row =
    &internal::elementwise_row<T, T, internal::SameForAllTypes<Mantissa>, 0>;
template <class T>
inline constexpr RowFunction exponent_row =
    &internal::elementwise_row<T, int32_t, internal::SameForAllTypes<Exponent>, 0>;
#endif

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
    RL_TRY(run_elementwise({inputs, 1}, exponent,
                           {type, computed, ScalarType::Int, Numbers::kRounded, exponent_row<T>, &type}));
    return run_elementwise({inputs, 1}, mantissa,
                           {type, computed, computed, Numbers::kRounded, mantissa_row<T>, &type});
  });
}

}  // namespace rushlight::kernels

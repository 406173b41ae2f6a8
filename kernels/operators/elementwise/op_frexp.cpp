// SPDX-License-Identifier: BSD-3-Clause
// frexp: mantissa with magnitude in [0.5, 1), and exponent of 2. Two elementwise passes, one for each output,
// reuse the loop of single-output functions. The exponent of 0, infinities and NaN is 0. 16-bit floats
// compute in float, which is exact.
#include <cmath>

#include "kernels/checks/selection.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

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
                           {type, computed, ScalarType::Int, Numbers::kRounded, &exponent_row<T>, nullptr}));
    return run_elementwise({inputs, 1}, mantissa,
                           {type, computed, computed, Numbers::kRounded, &mantissa_row<T>, nullptr});
  });
}

}  // namespace rushlight::kernels

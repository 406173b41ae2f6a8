// SPDX-License-Identifier: BSD-3-Clause
// polar and complex: complex tensors from modulus and angle, or from two real tensors.
#include <cmath>

#include "kernels/checks/selection.h"
#include "kernels/math/complex_function.h"
#include "kernels/math/complex_view.h"
#include "kernels/walk/elementwise.h"
#include "kernels/walk/expand.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

#ifdef __OPTIMIZE_SIZE__
// Both arguments are real and come as complex numbers, because the shared loop takes those.
WideComplex from_polar(WideComplex size, WideComplex angle) {
  return {size.real * std::cos(angle.real), size.real * std::sin(angle.real)};
}
#else
// Reads real elements and writes complex ones, computed in double.
struct FromPolar {
  template <class T>
  Complex<T> operator()(T size, T angle) const {
    const double wide = angle;
    return {static_cast<T>(size * std::cos(wide)), static_cast<T>(size * std::sin(wide))};
  }
};
// The same for one angle, whose cosine and sine are computed once.
struct AtAngle {
  double cosine;
  double sine;

  template <class T>
  Complex<T> operator()(T size) const {
    return {static_cast<T>(size * cosine), static_cast<T>(size * sine)};
  }
};

template <class T>
Error polar(const Tensor& size, const Tensor& angle, const Tensor& out) {
  using internal::elementwise_row, internal::SameForAllTypes;
  constexpr ScalarType kReal = scalar_type_of<T>;
  constexpr ScalarType kResult = scalar_type_of<Complex<T>>;
  const Tensor* const inputs[] = {&size, &angle};
  if (angle.numel() == 1 && angle.dim() <= size.dim()) {
    const double wide = *angle.const_data_ptr<T>();
    const SameForAllTypes<AtAngle> f{{std::cos(wide), std::sin(wide)}};
    return run_elementwise({inputs, 1}, out,
                           {kReal, kReal, kResult, Numbers::kRounded,
                            &elementwise_row<T, Complex<T>, SameForAllTypes<AtAngle>, 0>, &f});
  }
  const SameForAllTypes<FromPolar> f;
  return run_elementwise({inputs, 2}, out,
                         {kReal, kReal, kResult, Numbers::kRounded,
                          &elementwise_row<T, Complex<T>, SameForAllTypes<FromPolar>, 0, 1>, &f});
}
#endif

}  // namespace

Error polar_out(KernelContext&, const Tensor& abs, const Tensor& angle, Tensor& out) {
  // A negative modulus is not refused: it turns the angle by pi.
  RL_TRY(check_same_dtype(abs, angle, "abs and angle"));
  constexpr TypeSet kTypes = selected_types("aten::polar.out");
  const ScalarType type = complex_type(abs.scalar_type());
  if (!contains(kTypes & types::kFloating, abs.scalar_type())) return unsupported_type(abs.scalar_type());
  RL_CHECK(out.scalar_type() == type, Error::InvalidType, "out: expected dtype %s, got %s", to_string(type),
           to_string(out.scalar_type()));
#ifdef __OPTIMIZE_SIZE__
  return complex_function(type, abs, angle, out, from_polar);
#else
  return dispatch<(kTypes & types::kFloating)>(abs.scalar_type(), [&](auto element) {
    return polar<typename decltype(element)::Element>(abs, angle, out);
  });
#endif
}

// Two strided copies, without arithmetic: NaN and -0 keep their bits.
Error complex_out(KernelContext&, const Tensor& real, const Tensor& imag, Tensor& out) {
  RL_TRY(check_same_dtype(real, imag, "real and imag"));
  const ScalarType type = out.scalar_type();
  RL_CHECK(is_complex(type) && component_type(type) == real.scalar_type(), Error::InvalidType,
           "out: expected a complex dtype with parts of dtype %s, got %s", to_string(real.scalar_type()),
           to_string(type));
  Shape shape;
  RL_TRY(broadcast_shape(real.sizes(), imag.sizes(), &shape));
  RL_TRY(resize_out(out, shape.span()));
  RL_TRY(copy_view(parts_of(View::of(out), 0), expand_to(View::of(real), shape.span())));
  return copy_view(parts_of(View::of(out), 1), expand_to(View::of(imag), shape.span()));
}

}  // namespace rushlight::kernels

// SPDX-License-Identifier: BSD-3-Clause
// Sequential along each fiber, 64 elements at a time on the stack: convert, accumulate, convert back.
#include "kernels/reduction/cumulative.h"

#include <type_traits>

#include "kernels/checks/selection.h"
#include "kernels/elements/convert.h"
#include "kernels/math/arithmetic.h"
#include "kernels/walk/fibers.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kReal = kAnySelectedType & (types::kReal | types::kUnsignedWide);

// Integers wrap around, without undefined behavior.
template <class T>
T next(Cumulation cumulation, T before, T value) {
  return cumulation == Cumulation::kSum ? wrapping_add(before, value) : wrapping_multiply(before, value);
}

// Elements are converted to `target_type`, then to T, the type that holds it; the running value is an R.
template <class T, class R>
void cumulate_fiber(const Fiber& source, ScalarType type, const Fiber& target, ScalarType target_type,
                    Cumulation cumulation) {
  constexpr ptrdiff_t kRun = 64;
  constexpr auto kStep = static_cast<ptrdiff_t>(sizeof(T));
  T values[kRun];
  auto running = static_cast<R>(cumulation == Cumulation::kProduct);
  for (ptrdiff_t first = 0; first < source.size; first += kRun) {
    const ptrdiff_t n = source.size - first < kRun ? source.size - first : kRun;
    const auto count = static_cast<size_t>(n);
    // The first conversion rounds (or wraps) to the dtype of `out`, as PyTorch does before it accumulates.
    convert_span(values, kStep, target_type, source.data + first * source.stride, source.stride, type, count);
    convert_span(values, kStep, scalar_type_of<T>, values, kStep, target_type, count);
    for (ptrdiff_t i = 0; i < n; ++i) {
      running = next(cumulation, running, static_cast<R>(values[i]));
      values[i] = static_cast<T>(running);
    }
    convert_span(target.data + first * target.stride, target.stride, target_type, values, kStep,
                 scalar_type_of<T>, count);
  }
}

// Complex elements, each converted to complex128 and back.
void cumulate_complex_fiber(const Fiber& source, ScalarType type, const Fiber& target, ScalarType target_type,
                            Cumulation cumulation) {
  // In complex128 throughout: only the stored results are rounded.
  Complex<double> running(cumulation == Cumulation::kProduct ? 1.0 : 0.0);
  for (ptrdiff_t i = 0; i < source.size; ++i) {
    Complex<double> value;
    convert_span(&value, 0, ScalarType::ComplexDouble, source.data + i * source.stride, 0, type, 1);
    running = next(cumulation, running, value);
    convert_span(target.data + i * target.stride, 0, target_type, &running, 0, ScalarType::ComplexDouble, 1);
  }
}

}  // namespace

Error cumulate(TypeSet types, Cumulation cumulation, const Tensor& self, size_t along, const Tensor& out) {
  RL_TRY(check_convertible(self.scalar_type()));
  RL_TRY(check_convertible(out.scalar_type()));
  // A scalar has one fiber of one element.
  const View views[] = {at_least_1d(self), at_least_1d(out)};
  const ScalarType type = out.scalar_type();
  if (!contains(types & ~types::kBool, type)) return unsupported_type(type);
  if (kSelectsComplex && is_complex(type)) {
    return for_each_fiber(views, along, [&](const Fiber* fibers) {
      cumulate_complex_fiber(fibers[0], self.scalar_type(), fibers[1], type, cumulation);
      return Error::Ok;
    });
  }
  const auto run = [&](auto held, auto running) {
    return for_each_fiber(views, along, [&](const Fiber* fibers) {
      cumulate_fiber<decltype(held), decltype(running)>(fibers[0], self.scalar_type(), fibers[1], type,
                                                        cumulation);
      return Error::Ok;
    });
  };
  // As in PyTorch, the running value of float32 is double, and of 16-bit floats float.
  return dispatch<held_in(kReal, Signs::kIgnored)>(held_type(kReal, type, Signs::kIgnored), [&](auto held) {
    using T = typename decltype(held)::Element;
    if constexpr (std::is_integral_v<T>) return run(T(), T());
    if constexpr ((kReal & types::kReducedFloat) != 0) {
      if (contains(types::kReducedFloat, type)) return run(T(), T());
    }
    if constexpr (std::is_floating_point_v<T>) return run(T(), double());
  });
}

}  // namespace rushlight::kernels

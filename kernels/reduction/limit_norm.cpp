// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/reduction/limit_norm.h"

#include "kernels/checks/selection.h"
#include "kernels/elements/convert.h"
#include "kernels/elements/element_access.h"
#include "kernels/math/complex_math.h"
#include "kernels/math/complex_view.h"
#include "kernels/reduction/norm.h"
#include "kernels/ukernel/loops.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kHeld =
    computed_in((kAnySelectedType | complex_needs(kAnySelectedType)) & types::kFloating);

// Calls f(T* values, n) for spans of a real view: its own elements, or pieces that are converted to T and,
// with `writes`, back.
template <class T, class F>
void for_each_part(const View& view, bool writes, F f) {
  PairedLoops(view, view).for_each_span([&](char* at, const char*, const PairedLoops::Loop& loop) {
    auto left = static_cast<size_t>(loop.size);
    if (are_held<T>(view.type, loop.target)) {
      return f(reinterpret_cast<T*>(at), left);
    }
    T values[kPiece];
    for (size_t n = 0; left > 0; left -= n, at += static_cast<ptrdiff_t>(n) * loop.target) {
      n = left < kPiece ? left : kPiece;
      convert_span(values, sizeof(T), scalar_type_of<T>, at, loop.target, view.type, n);
      f(static_cast<T*>(values), n);
      if (writes) convert_span(at, loop.target, view.type, values, sizeof(T), scalar_type_of<T>, n);
    }
  });
}

// Multiplies in double.
template <class T>
[[gnu::always_inline]] inline void multiply_by(T* values, size_t n, double factor) {
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<T>(values[i] * factor);
}
template <class T>
RL_LOOPS void multiply_in_loops(T* values, size_t n, double factor) {
  multiply_by(values, n, factor);
}

}  // namespace

// Parts of complex elements are scaled like real ones; such an element counts by its modulus. The 1e-7 in the
// divisor is PyTorch's.
void limit_norm(const View& view, double p, double limit) {
  Norm<double> norm(p);
  const bool are_pairs = kSelectsComplex && is_complex(view.type);
  if (are_pairs) {
    PairedLoops(view, view).for_each_span([&](const char* at, const char*, const PairedLoops::Loop& loop) {
      for (ptrdiff_t i = 0; i < loop.size; ++i)
        norm.add(modulus(load_complex(at + i * loop.target, view.type)));
    });
  }
  const View parts = are_pairs ? as_real(view) : view;
  static_cast<void>(dispatch<kHeld>(computed_type(parts.type), [&](auto held) {
    using T = typename decltype(held)::Element;
    if (!are_pairs) {
      for_each_part<T>(parts, false, [&](const T* values, size_t n) { norm.add(values, 1, n); });
    }
    const double size = norm.result();
    if (!(size > limit)) return Error::Ok;
    const double factor = limit / (size + 1e-7);
    for_each_part<T>(parts, true, [factor](T* values, size_t n) {
      if (ukernel::runs_loops()) return multiply_in_loops(values, n, factor);
      multiply_by(values, n, factor);
    });
    return Error::Ok;
  }));
}

}  // namespace rushlight::kernels

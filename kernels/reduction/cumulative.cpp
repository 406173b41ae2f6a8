// SPDX-License-Identifier: BSD-3-Clause
// 64 elements at a time on the stack: convert, accumulate, convert back. Builds for speed take the elements
// of neighbouring fibers together if these are closer than the elements of a fiber.
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

// A fiber, or several side by side: `columns` neighbours, whose strides are steps in bytes.
struct Fibers {
  Fiber source;
  ScalarType type;
  Fiber target;
  ScalarType target_type;
  ptrdiff_t columns;
  ptrdiff_t source_step;
  ptrdiff_t target_step;
};

// Converts n elements to T, the type that holds the dtype of `out`, through that dtype: it rounds (or wraps)
// as PyTorch does before it accumulates.
template <class T>
void load(T* values, const Fibers& fibers, const char* source, ptrdiff_t stride, size_t n) {
  constexpr auto kStep = static_cast<ptrdiff_t>(sizeof(T));
  ScalarType type = fibers.type;
  if (type != fibers.target_type) {
    convert_span(values, kStep, fibers.target_type, source, stride, type, n);
    source = reinterpret_cast<const char*>(values);
    stride = kStep;
    type = fibers.target_type;
  }
  convert_span(values, kStep, scalar_type_of<T>, source, stride, type, n);
}

constexpr ptrdiff_t kRun = 64;

// The running value is an R.
template <class T, class R>
void cumulate_fiber(const Fibers& fibers, Cumulation cumulation) {
  T values[kRun];
  auto running = R(cumulation == Cumulation::kProduct ? 1 : 0);
  const Fiber& source = fibers.source;
  const Fiber& target = fibers.target;
  for (ptrdiff_t first = 0; first < source.size; first += kRun) {
    const ptrdiff_t n = source.size - first < kRun ? source.size - first : kRun;
    const auto count = static_cast<size_t>(n);
    load(values, fibers, source.data + first * source.stride, source.stride, count);
    for (ptrdiff_t i = 0; i < n; ++i) {
      running = next(cumulation, running, static_cast<R>(values[i]));
      values[i] = static_cast<T>(running);
    }
    convert_span(target.data + first * target.stride, target.stride, fibers.target_type, values, sizeof(T),
                 scalar_type_of<T>, count);
  }
}

// Neighbours in tiles, one element of each at a time, so that memory is read in order and no step waits for
// the one before.
template <class T, class R>
void cumulate_columns(const Fibers& fibers, Cumulation cumulation) {
  T values[kRun];
  R running[kRun];
  for (ptrdiff_t first = 0; first < fibers.columns; first += kRun) {
    const ptrdiff_t n = fibers.columns - first < kRun ? fibers.columns - first : kRun;
    const auto count = static_cast<size_t>(n);
    const char* source = fibers.source.data + first * fibers.source_step;
    char* target = fibers.target.data + first * fibers.target_step;
    for (R& each : running) each = R(cumulation == Cumulation::kProduct ? 1 : 0);
    for (ptrdiff_t i = 0; i < fibers.source.size; ++i) {
      load(values, fibers, source, fibers.source_step, count);
      const auto advance = [&](auto how) {
        for (ptrdiff_t j = 0; j < n; ++j) {
          running[j] = next(how(), running[j], static_cast<R>(values[j]));
          values[j] = static_cast<T>(running[j]);
        }
      };
      if (cumulation == Cumulation::kSum) {
        advance([] { return Cumulation::kSum; });
      } else {
        advance([] { return Cumulation::kProduct; });
      }
      convert_span(target, fibers.target_step, fibers.target_type, values, sizeof(T), scalar_type_of<T>,
                   count);
      source += fibers.source.stride;
      target += fibers.target.stride;
    }
  }
}

// The dimension of neighbours that are closer together than the elements of a fiber; `along` itself if there
// is none, or in builds for size.
size_t dim_of_columns([[maybe_unused]] const View& out, size_t along) {
  size_t found = along;
#ifndef __OPTIMIZE_SIZE__
  for (size_t d = 0; d < out.dim; ++d) {
    if (out.sizes[d] >= 8 && out.strides[d] < out.strides[found]) found = d;
  }
#endif
  return found;
}

}  // namespace

Error cumulate(TypeSet types, Cumulation cumulation, const Tensor& self, size_t along, const Tensor& out) {
  RL_TRY(check_convertible(self.scalar_type()));
  RL_TRY(check_convertible(out.scalar_type()));
  // A scalar has one fiber of one element.
  View views[] = {at_least_1d(self), at_least_1d(out)};
  const ScalarType type = out.scalar_type();
  if (!contains(types & ~types::kBool, type)) return unsupported_type(type);
  const size_t columns = dim_of_columns(views[1], along);
  Fibers all{{}, self.scalar_type(), {}, type, 1, views[0].strides[columns], views[1].strides[columns]};
  if (columns != along) {
    all.columns = views[1].sizes[columns];
    for (View& view : views) view.sizes[columns] = 1;  // visited together
  }
  const auto run = [&](auto held, auto running) {
    using T = decltype(held);
    using R = decltype(running);
    return for_each_fiber(views, along, [&](const Fiber* fibers) {
      all.source = fibers[0];
      all.target = fibers[1];
#ifndef __OPTIMIZE_SIZE__
      if (all.columns > 1) {
        cumulate_columns<T, R>(all, cumulation);
        return Error::Ok;
      }
#endif
      cumulate_fiber<T, R>(all, cumulation);
      return Error::Ok;
    });
  };
  // Complex elements in complex128 throughout: only the stored results are rounded.
  if constexpr (kSelectsComplex) {
    if (is_complex(type)) return run(Complex<double>(), Complex<double>());
  }
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

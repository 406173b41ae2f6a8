// SPDX-License-Identifier: BSD-3-Clause
// Visits up to four views fiber by fiber. A fiber is all elements along one dimension with the other indices
// fixed (Kolda and Bader, "Tensor Decompositions and Applications", 2009, 2.1). Fibers of a visit may have
// different lengths. The loop is compiled once, with a call for each fiber: for rare operators along a
// dimension. If speed matters use paired_fibers.h, whose loop is inlined.
#pragma once

#include <cstddef>

#include "kernels/elements/element.h"
#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Most views of a walk.
inline constexpr size_t kMaxFibers = 4;

// The elements of a view along one dimension. Does not own them. get() reads bool bytes safely, see load().
struct Fiber {
  char* data;
  ptrdiff_t stride;  // in bytes
  ptrdiff_t size;

  template <class T>
  [[nodiscard]] T& at(ptrdiff_t i) const {
    return *reinterpret_cast<T*>(data + i * stride);
  }
  template <class T>
  [[nodiscard]] T get(ptrdiff_t i) const {
    return load(&at<T>(i));
  }
};

// `fibers` has one fiber of each view, in order. `context` is the caller's.
using FiberFunction = Error (*)(void* context, const Fiber* fibers);

// Calls f for every nonempty fiber of views[0] along `dim`, in row-major order of the other dimensions, and
// stops at an error, which it returns. Preconditions: at most kMaxFibers views; all have the rank of the
// first one, at least 1, and at least its sizes except along `dim`.
Error for_each_fiber(Span<const View> views, size_t dim, FiberFunction f, void* context);

// The same with any callable that takes the fibers: Error f(const Fiber* fibers).
template <class F>
Error for_each_fiber(Span<const View> views, size_t dim, F f) {
  return for_each_fiber(
      views, dim, [](void* context, const Fiber* fibers) { return (*static_cast<F*>(context))(fibers); }, &f);
}

// The view of a tensor; a 0-dim tensor gets one dimension of size 1, so that it has fibers.
View at_least_1d(const Tensor& tensor);

}  // namespace rushlight::kernels

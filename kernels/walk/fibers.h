// SPDX-License-Identifier: BSD-3-Clause
// Visits up to four views in step, fiber by fiber: a fiber is all elements along one dimension, the other
// indices fixed (Kolda and Bader, Tensor decompositions and applications, 2.1). Fibers may have different
// lengths, and the walk is compiled once. For operators along a dimension that are called rarely; where speed
// counts take paired_fibers.h, whose walk is inlined.
#pragma once

#include <cstddef>

#include "kernels/elements/element.h"
#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

inline constexpr size_t kMaxFibers = 4;

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

// `fibers` are those of the views, in their order.
using FiberFunction = Error (*)(void* context, const Fiber* fibers);

// Calls f for every fiber of views[0] along `dim` that has elements, in row major order of the other
// dimensions, and stops at an error. All views have the rank of the first, and at least its sizes except
// along `dim`.
Error for_each_fiber(Span<const View> views, size_t dim, FiberFunction f, void* context);

// The same with anything that can be called with the fibers.
template <class F>
Error for_each_fiber(Span<const View> views, size_t dim, F f) {
  return for_each_fiber(
      views, dim, [](void* context, const Fiber* fibers) { return (*static_cast<F*>(context))(fibers); }, &f);
}

// A View of a tensor in which a 0-dim one has its element along one dimension.
View at_least_1d(const Tensor& tensor);

}  // namespace rushlight::kernels

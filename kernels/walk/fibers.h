// SPDX-License-Identifier: BSD-3-Clause
// Visiting up to four views in step, lane by lane: a lane is all elements along one dimension, the
// other indices fixed. Lanes may have different lengths, and the walk is compiled once.
#pragma once

#include <cstddef>

#include "kernels/elements/element.h"
#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

inline constexpr size_t kMaxLanes = 4;

struct ViewLane {
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

// `lanes` are those of the views, in their order.
using LaneFunction = Error (*)(void* context, const ViewLane* lanes);

// Calls f for every lane of views[0] along `dim` that has elements, in row major order of the other
// dimensions, and stops at an error. All views have the rank of the first, and at least its sizes except
// along `dim`.
Error for_each_lane(Span<const View> views, size_t dim, LaneFunction f, void* context);

// The same with anything that can be called with the lanes.
template <class F>
Error for_each_lane(Span<const View> views, size_t dim, F f) {
  return for_each_lane(
      views, dim, [](void* context, const ViewLane* lanes) { return (*static_cast<F*>(context))(lanes); },
      &f);
}

// A View of a tensor in which a 0-dim one has its element along one dimension.
View at_least_1d(const Tensor& tensor);

}  // namespace rushlight::kernels

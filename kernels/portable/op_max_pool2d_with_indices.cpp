// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/shared/pooling.h"
#include "kernels/shared/selection.h"
#include "kernels/shared/view.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// Below every number but the lowest.
template <class T>
T lowest() {
  if constexpr (std::is_integral_v<T>) return std::numeric_limits<T>::lowest();
  return static_cast<T>(-INFINITY);
}

template <class T>
bool is_nan(T value) {
  if constexpr (std::is_integral_v<T>) return false;
  return static_cast<float>(value) != static_cast<float>(value);
}
template <>
bool is_nan(double value) {
  return value != value;
}

template <class T>
bool is_greater(T a, T b) {
  if constexpr (std::is_arithmetic_v<T>) {
    return a > b;
  } else {
    return static_cast<float>(a) > static_cast<float>(b);
  }
}

struct Plane {
  char* data;
  const ptrdiff_t* strides;  // in bytes

  [[nodiscard]] char* at(ptrdiff_t y, ptrdiff_t x) const { return data + y * strides[0] + x * strides[1]; }
};

// The largest of a window and its place in the plane; the last NaN before everything. A window that
// steps over all elements, as dilation can make it, has the lowest number, and a place outside.
template <class T>
void pool_window(const Window* windows, const Covered& rows, const Covered& columns, const Plane& in,
                 T* largest, int64_t* place) {
  ptrdiff_t y_found = rows.begin;
  ptrdiff_t x_found = columns.begin;
  *largest = lowest<T>();
  for (ptrdiff_t y = rows.begin; y < rows.end; y += static_cast<ptrdiff_t>(windows[0].dilation)) {
    for (ptrdiff_t x = columns.begin; x < columns.end; x += static_cast<ptrdiff_t>(windows[1].dilation)) {
      const T value = *reinterpret_cast<const T*>(in.at(y, x));
      if (!is_greater(value, *largest) && !is_nan(value)) continue;
      *largest = value;
      y_found = y;
      x_found = x;
    }
  }
  *place = static_cast<int64_t>(y_found) * windows[1].in + x_found;
}

template <class T>
void pool_plane(const Window* windows, const Plane& in, const Plane& out, const Plane& indices) {
  for (ptrdiff_t y = 0; y < windows[0].out; ++y) {
    const Covered rows = covered(windows[0], y);
    for (ptrdiff_t x = 0; x < windows[1].out; ++x) {
      pool_window(windows, rows, covered(windows[1], x), in, reinterpret_cast<T*>(out.at(y, x)),
                  reinterpret_cast<int64_t*>(indices.at(y, x)));
    }
  }
}

}  // namespace

Error max_pool2d_with_indices_out(KernelContext&, const Tensor& self, Span<const int64_t> kernel_size,
                                  Span<const int64_t> stride, Span<const int64_t> padding,
                                  Span<const int64_t> dilation, bool ceil_mode, Tensor& out,
                                  Tensor& indices) {
  constexpr TypeSet kTypes = selected_types("aten::max_pool2d_with_indices.out");
  RL_TRY(check_same_dtype(self, out, "self and out"));
  RL_CHECK(indices.scalar_type() == ScalarType::Long, Error::InvalidType,
           "indices: expected dtype int64, got %s", to_string(indices.scalar_type()));
  Window windows[2];
  RL_TRY(plan_windows(self, {kernel_size, stride, padding, dilation, ceil_mode}, 2, windows));
  const Shape shape = pooled_shape(self, windows);
  RL_TRY(resize_out(out, shape.span()));
  RL_TRY(resize_out(indices, shape.span()));
  View source = View::of(self);
  View target = View::of(out);
  View places = View::of(indices);
  if (source.dim == 3) {
    source.insert(0, 1, 0);
    target.insert(0, 1, 0);
    places.insert(0, 1, 0);
  }
  return dispatch<kTypes>(self.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    for (ptrdiff_t n = 0; n < source.sizes[0]; ++n) {
      for (ptrdiff_t c = 0; c < source.sizes[1]; ++c) {
        const auto plane = [&](const View& view) {
          return Plane{view.data + n * view.strides[0] + c * view.strides[1], view.strides + 2};
        };
        pool_plane<T>(windows, plane(source), plane(target), plane(places));
      }
    }
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels

// SPDX-License-Identifier: BSD-3-Clause
// Max pooling of images, with and without indices. Direct comparison, kernel size operations for each output;
// planes are walked with strides, so that row-major and channels-last tensors share the loops.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/held_access.h"
#include "kernels/geometry/pooling.h"
#include "kernels/walk/view.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kWithIndices = selected_types("aten::max_pool2d_with_indices.out");
constexpr TypeSet kWithout = selected_types("rushlight::max_pool2d.out");
constexpr TypeSet kTypes = kWithIndices | kWithout;

// The initial maximum: the least value of the type, in two steps because 2^63 does not fit in int64.
int64_t lowest_integer(ScalarType type) {
  return type == ScalarType::Byte ? 0 : -(int64_t{1} << (8 * element_size(type) - 2)) * 2;
}

// One channel of one image.
struct Plane {
  char* data;
  const ptrdiff_t* strides;  // in bytes

  [[nodiscard]] char* at(ptrdiff_t y, ptrdiff_t x) const { return data + y * strides[0] + x * strides[1]; }
};

// The largest element of a window and its index in the plane. NaN beats everything, and the last NaN wins; of
// other equal elements the first. A window without elements, which dilation can cause, gives the initial
// maximum and an index outside.
template <class E>
void pool_window(const E& elements, typename E::Held lowest, const Window* windows, const Covered& rows,
                 const Covered& columns, const Plane& in, char* out, char* position) {
  ptrdiff_t y_found = rows.begin;
  ptrdiff_t x_found = columns.begin;
  auto largest = lowest;
  for (ptrdiff_t y = rows.begin; y < rows.end; y += static_cast<ptrdiff_t>(windows[0].dilation)) {
    for (ptrdiff_t x = columns.begin; x < columns.end; x += static_cast<ptrdiff_t>(windows[1].dilation)) {
      const auto value = elements.load(in.at(y, x));
      if (!(value > largest) && value == value) continue;  // NaN does not equal itself
      largest = value;
      y_found = y;
      x_found = x;
    }
  }
  elements.store(out, largest);
  if (position == nullptr) return;
  *reinterpret_cast<int64_t*>(position) = static_cast<int64_t>(y_found) * windows[1].in + x_found;
}

// The rows of a window are computed once for all windows of a row. Without indices their data is null.
template <class E>
void pool_plane(const E& elements, typename E::Held lowest, const Window* windows, const Plane& in,
                const Plane& out, const Plane& indices) {
  for (ptrdiff_t y = 0; y < windows[0].out; ++y) {
    const Covered rows = covered(windows[0], y);
    for (ptrdiff_t x = 0; x < windows[1].out; ++x) {
      pool_window(elements, lowest, windows, rows, covered(windows[1], x), in, out.at(y, x),
                  indices.data == nullptr ? nullptr : indices.at(y, x));
    }
  }
}

// Four instances of the loop at most: float32 and double are read directly, all integers as int64 and 16-bit
// floats as float through calls.
Error pool_planes(const MaxPoolProblem& problem) {
  const ScalarType type = problem.type();
  View source = View::of(problem.self);
  View target = View::of(problem.out);
  View indices = problem.indices == nullptr ? View() : View::of(*problem.indices);
  if (source.dim == 3) {
    source.insert(0, 1, 0);
    target.insert(0, 1, 0);
    if (problem.indices != nullptr) indices.insert(0, 1, 0);
  }
  const auto pool = [&](const auto& elements, auto lowest) {
    for (ptrdiff_t n = 0; n < source.sizes[0]; ++n) {
      for (ptrdiff_t c = 0; c < source.sizes[1]; ++c) {
        const auto plane = [&](const View& view) {
          return Plane{view.data == nullptr ? nullptr : view.data + n * view.strides[0] + c * view.strides[1],
                       view.strides + 2};
        };
        pool_plane(elements, lowest, problem.windows, plane(source), plane(target), plane(indices));
      }
    }
    return Error::Ok;
  };
  return dispatch<held_in(kTypes)>(held_type(kTypes, type), [&](auto held) {
    using C = typename decltype(held)::Element;
    if constexpr (std::is_integral_v<C>) return pool(HeldElements<C>(type), lowest_integer(type));
    if constexpr (std::is_same_v<C, float> && (kTypes & types::kReducedFloat) != 0) {
      if (type != ScalarType::Float) return pool(HeldElements<C>(type), static_cast<C>(-INFINITY));
    }
    if constexpr (std::is_floating_point_v<C>) return pool(DirectElements<C>(), static_cast<C>(-INFINITY));
  });
}

// Checks the arguments and resizes `out`, and `indices` unless it is null.
Error plan(TypeSet types, const Tensor& self, const PoolArguments& arguments, const Tensor& out,
           const Tensor* indices, Window* windows) {
  if (!contains(types, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_TRY(check_same_dtype(self, out, "self and out"));
  RL_TRY(plan_windows(self, arguments, 2, windows));
  const Shape shape = pooled_shape(self, {windows, 2});
  RL_TRY(resize_out(out, shape.span()));
  return indices == nullptr ? Error::Ok : resize_out(*indices, shape.span());
}

}  // namespace

Error max_pool2d_with_indices_out(KernelContext& context, const Tensor& self, Span<const int64_t> kernel_size,
                                  Span<const int64_t> stride, Span<const int64_t> padding,
                                  Span<const int64_t> dilation, bool ceil_mode, Tensor& out,
                                  Tensor& indices) {
  RL_CHECK(indices.scalar_type() == ScalarType::Long, Error::InvalidType,
           "indices: expected dtype int64, got %s", to_string(indices.scalar_type()));
  Window windows[2];
  RL_TRY(
      plan(kWithIndices, self, {kernel_size, stride, padding, dilation, ceil_mode}, out, &indices, windows));
  const MaxPoolProblem problem{self, windows, out, &indices};
  return backs::max_pool2d_with_indices_out(context, problem, [&] { return pool_planes(problem); });
}

Error max_pool2d_out(KernelContext& context, const Tensor& self, Span<const int64_t> kernel_size,
                     Span<const int64_t> stride, Span<const int64_t> padding, Span<const int64_t> dilation,
                     bool ceil_mode, Tensor& out) {
  Window windows[2];
  RL_TRY(plan(kWithout, self, {kernel_size, stride, padding, dilation, ceil_mode}, out, nullptr, windows));
  const MaxPoolProblem problem{self, windows, out, nullptr};
  return backs::max_pool2d_out(context, problem, [&] { return pool_planes(problem); });
}

}  // namespace rushlight::kernels

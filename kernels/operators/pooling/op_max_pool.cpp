// SPDX-License-Identifier: BSD-3-Clause
// Max pooling with indices: volumes, adaptive windows, and fractional max pooling (Graham, 2014), whose
// windows start at pseudo-random positions. One function pools a region, for_each_region walks over the
// windows. Integers are read as int64 through one call each, floats directly in builds for speed.
#include <cmath>

#include "kernels/checks/selection.h"
#include "kernels/elements/held_access.h"
#include "kernels/geometry/fractional_tiling.h"
#include "kernels/geometry/region.h"
#include "kernels/matmul/accumulator.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes =
    selected_types("aten::max_pool3d_with_indices.out") | selected_types("aten::adaptive_max_pool2d.out") |
    selected_types("aten::adaptive_max_pool3d.out") | selected_types("aten::fractional_max_pool2d.output") |
    selected_types("aten::fractional_max_pool3d.output");

// The initial maximum: -infinity, or the least value of the integer type. 2^63 does not fit in int64, so the
// power is built in two steps.
template <class C>
C lowest(ScalarType type) {
  if constexpr (std::is_floating_point_v<C>) {
    return -static_cast<C>(INFINITY);
  } else {
    return type == ScalarType::Byte ? 0 : -(C{1} << (8 * element_size(type) - 2)) * 2;
  }
}

#ifndef __OPTIMIZE_SIZE__
// Elements of T, which is compared as C, without calls through pointers.
template <class C, class T>
struct TypedElements {
  using Held = C;
  explicit TypedElements(ScalarType) {}
  [[nodiscard]] C load(const char* at) const { return static_cast<C>(*reinterpret_cast<const T*>(at)); }
  void store(char* at, C value) const { *reinterpret_cast<T*>(at) = static_cast<T>(value); }
};
#endif

// The largest element of a region and its index in the volume. NaN beats everything, and the last NaN wins;
// of other equal elements the first. A region without elements, which dilation can cause, gives the initial
// maximum and an index outside.
template <class E>
void pool_region(const Pool& pool, const Region& region, char* pooled, char* index) {
  using C = typename E::Held;
  const E elements(pool.volume.type);
  C largest = lowest<C>(pool.volume.type);
  ptrdiff_t found[kVolume] = {};
  for (ptrdiff_t i = 0; i < region.count[0]; ++i) {
    for (ptrdiff_t j = 0; j < region.count[1]; ++j) {
      const char* element = region.data + i * region.stride[0] + j * region.stride[1];
      for (ptrdiff_t k = 0; k < region.count[2]; ++k, element += region.stride[2]) {
        const C value = elements.load(element);
        // NaN passes, because it does not equal itself.
        if (!(value > largest) && value == value) continue;
        largest = value;
        found[0] = i;
        found[1] = j;
        found[2] = k;
      }
    }
  }
  // The row-major index in the spatial dimensions of the input: what unpooling and the gradient scatter to.
  int64_t position = 0;
  for (size_t d = 0; d < kVolume; ++d) {
    position = position * pool.windows[d].in + region.begin[d] + found[d] * region.step[d];
  }
  elements.store(pooled, largest);
  *reinterpret_cast<int64_t*>(index) = position;
}

// `windows` has `spatial` planned entries for the last dimensions, so that every region lies in `self`.
Error max_pool(TypeSet types, Tiling tiling, size_t spatial, const Window* windows, const Tensor& self,
               const Tensor& out, const Tensor& indices, const Tensor* samples) {
  const ScalarType type = self.scalar_type();
  if (!contains(types, type)) return unsupported_type(type);
  RL_TRY(check_same_dtype(self, out, "self and out"));
  RL_CHECK(indices.scalar_type() == ScalarType::Long, Error::InvalidType,
           "indices: expected dtype int64, got %s", to_string(indices.scalar_type()));
  const Shape shape = pooled_shape(self, {windows, spatial});
  RL_TRY(resize_out(out, shape.span()));
  RL_TRY(resize_out(indices, shape.span()));
  if (out.numel() == 0) return Error::Ok;
  Pool pool = make_pool(tiling, spatial, windows, self, out);
  pool.indices = as_volume(indices, spatial);
  if (samples != nullptr) pool.samples = View::of(*samples);
#ifndef __OPTIMIZE_SIZE__
  constexpr TypeSet kTyped = kTypes & types::kFloating;
  if (contains(kTyped, type)) {
    return dispatch<kTyped>(type, [&](auto of) {
      using T = typename decltype(of)::Element;
      for_each_region(pool, pool_region<TypedElements<Accumulator<T>, T>>);
      return Error::Ok;
    });
  }
  constexpr TypeSet kHeld = kTypes & types::kIntegral;
#else
  constexpr TypeSet kHeld = kTypes;
#endif
  // The types in which other elements are compared.
  constexpr bool kHasIntegers = (kHeld & types::kIntegral) != 0;
  constexpr TypeSet kCompared =
      floating_compute_types(kHeld & types::kFloating) | (kHasIntegers ? type_set(ScalarType::Long) : 0);
  const ScalarType compared = is_floating(type) ? floating_compute_type(type) : ScalarType::Long;
  return dispatch<kCompared>(compared, [&](auto of) {
    for_each_region(pool, pool_region<HeldElements<typename decltype(of)::Element>>);
    return Error::Ok;
  });
}

// Window i covers [floor(i in / out), ceil((i + 1) in / out)), as in the average.
Error adaptive_max_pool(TypeSet types, size_t spatial, const Tensor& self, Span<const int64_t> output_size,
                        const Tensor& out, const Tensor& indices) {
  Window windows[kVolume];
  RL_TRY(plan_adaptive(self, output_size, spatial, windows));
  return max_pool(types, adaptive_tiling, spatial, windows, self, out, indices, nullptr);
}

// Each of the windows must start at a different position: `out` starts and a window of `kernel` need out +
// kernel - 1 elements. Each channel of a sample has one random number in each dimension.
Error fractional_max_pool(TypeSet types, size_t spatial, const Tensor& self, Span<const int64_t> kernel_size,
                          Span<const int64_t> output_size, const Tensor& random_samples, const Tensor& output,
                          const Tensor& indices) {
  Window windows[kVolume];
  RL_TRY(plan_adaptive(self, output_size, spatial, windows));
  RL_TRY(check_spatial_list(kernel_size, spatial, 1, "kernel_size"));
  RL_TRY(check_same_dtype(self, random_samples, "self and random_samples"));
  for (size_t i = 0; i < spatial; ++i) {
    Window& window = windows[i];
    window.kernel = spatial_item(kernel_size, i);
    RL_CHECK(window.out + window.kernel - 1 <= window.in, Error::InvalidArgument,
             "output_size: %ld windows of %ld do not fit into %ld elements", static_cast<long>(window.out),
             static_cast<long>(window.kernel), static_cast<long>(window.in));
  }
  const auto rank = static_cast<size_t>(self.dim());
  const bool has_batch = rank == spatial + 2;
  const SizesType shape[] = {has_batch ? self.sizes()[0] : 1, self.sizes()[rank - spatial - 1],
                             static_cast<SizesType>(spatial)};
  RL_TRY(check_shape(random_samples, shape, "random_samples"));
  return max_pool(types, fractional_tiling, spatial, windows, self, output, indices, &random_samples);
}

}  // namespace

Error max_pool3d_with_indices_out(KernelContext&, const Tensor& self, Span<const int64_t> kernel_size,
                                  Span<const int64_t> stride, Span<const int64_t> padding,
                                  Span<const int64_t> dilation, bool ceil_mode, Tensor& out,
                                  Tensor& indices) {
  constexpr TypeSet kPoolTypes = selected_types("aten::max_pool3d_with_indices.out");
  Window windows[kVolume];
  RL_TRY(plan_windows(self, {kernel_size, stride, padding, dilation, ceil_mode}, kVolume, windows));
  return max_pool(kPoolTypes, window_tiling, kVolume, windows, self, out, indices, nullptr);
}

Error adaptive_max_pool2d_out(KernelContext&, const Tensor& self, Span<const int64_t> output_size,
                              Tensor& out, Tensor& indices) {
  constexpr TypeSet kOwnTypes = selected_types("aten::adaptive_max_pool2d.out");
  return adaptive_max_pool(kOwnTypes, 2, self, output_size, out, indices);
}

Error adaptive_max_pool3d_out(KernelContext&, const Tensor& self, Span<const int64_t> output_size,
                              Tensor& out, Tensor& indices) {
  constexpr TypeSet kOwnTypes = selected_types("aten::adaptive_max_pool3d.out");
  return adaptive_max_pool(kOwnTypes, 3, self, output_size, out, indices);
}

Error fractional_max_pool2d_output(KernelContext&, const Tensor& self, Span<const int64_t> kernel_size,
                                   Span<const int64_t> output_size, const Tensor& random_samples,
                                   Tensor& output, Tensor& indices) {
  constexpr TypeSet kOwnTypes = selected_types("aten::fractional_max_pool2d.output");
  return fractional_max_pool(kOwnTypes, 2, self, kernel_size, output_size, random_samples, output, indices);
}

Error fractional_max_pool3d_output(KernelContext&, const Tensor& self, Span<const int64_t> kernel_size,
                                   Span<const int64_t> output_size, const Tensor& random_samples,
                                   Tensor& output, Tensor& indices) {
  constexpr TypeSet kOwnTypes = selected_types("aten::fractional_max_pool3d.output");
  return fractional_max_pool(kOwnTypes, 3, self, kernel_size, output_size, random_samples, output, indices);
}

}  // namespace rushlight::kernels

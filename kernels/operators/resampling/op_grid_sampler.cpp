// SPDX-License-Identifier: BSD-3-Clause
// Samples an image at the positions of a grid, by linear, nearest or cubic interpolation (Jaderberg et al.,
// "Spatial Transformer Networks", 2015). Weights separate by dimension: each position computes its weights
// once, for all channels. A position then costs 2^d, 1 or 4^d products for each channel in d dimensions.
#include <algorithm>
#include <cmath>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/geometry/taps.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes =
    selected_types("aten::grid_sampler_2d.out") | selected_types("aten::grid_sampler_3d.out");

// The enumerators have PyTorch's values.
enum Mode : int64_t { kLinear = 0, kNearest = 1, kCubic = 2 };
enum Outside : int64_t { kZeros = 0, kBorder = 1, kReflection = 2 };

struct Sampling {
  int64_t mode;
  int64_t outside;
  bool align_corners;  // -1 and 1 are the centers of the outermost elements, not their outer edges
};

// Reflects a position at both ends of [low, high] until it lies inside.
template <class W>
W reflect(W position, W low, W high) {
  const W span = high - low;
  if (span == 0) return 0;
  const W distance = std::fabs(position - low);
  const W extra = std::fmod(distance, span);
  const bool is_flipped = std::fmod(std::floor(distance / span), W(2)) != 0;
  return is_flipped ? high - extra : low + extra;
}

// Maps a position that may lie outside to the position to read, by the padding mode. Except for kZeros the
// result is inside: NaN becomes 0.
template <class W>
W inside(const Sampling& sampling, W position, ptrdiff_t size) {
  if (sampling.outside == kZeros) return position;
  const W last = static_cast<W>(size - 1);
  if (sampling.outside == kReflection) {
    const W margin = sampling.align_corners ? W(0) : W(0.5);
    position = reflect(position, -margin, last + margin);
  }
  if (!(position > 0)) return 0;
  return std::min(position, last);
}

// The byte offset of an element, or -1 if the position is outside (or NaN): such taps count as 0. The test
// comes before the conversion, which is undefined for values beyond ptrdiff_t.
template <class W>
ptrdiff_t offset_of(W position, ptrdiff_t size, ptrdiff_t stride) {
  if (!(position >= 0) || position >= static_cast<W>(size)) return -1;
  return static_cast<ptrdiff_t>(position) * stride;
}

// Offsets and weights of the inputs around a grid coordinate in one dimension.
template <class W>
Taps<W> taps_of(const Sampling& sampling, W coordinate, ptrdiff_t size, ptrdiff_t stride) {
  const W length = static_cast<W>(size);
  // Undoes the normalization: -1 and 1 are the centers of the outermost elements, or their outer edges at
  // -0.5 and size - 0.5.
  const W point =
      sampling.align_corners ? (coordinate + 1) / 2 * (length - 1) : ((coordinate + 1) * length - 1) / 2;
  Taps<W> taps = single_tap<W>();
  if (sampling.mode == kCubic) {
    // Each of the four taps is padded separately, so reflection and border apply beyond the image.
    const W before = std::floor(point);
    taps.count = 4;
    cubic_weights(point - before, taps.weight);
    for (ptrdiff_t i = 0; i < 4; ++i) {
      taps.offset[i] = offset_of(inside(sampling, before + static_cast<W>(i - 1), size), size, stride);
    }
    return taps;
  }
  const W position = inside(sampling, point, size);
  // Padding comes before rounding, so a reflected position is rounded once, inside.
  if (sampling.mode == kNearest) {
    // Halves round to even, as in PyTorch.
    taps.offset[0] = offset_of(std::nearbyint(position), size, stride);
    return taps;
  }
  const W before = std::floor(position);
  taps.count = 2;
  linear_weights(position - before, taps.weight);
  for (ptrdiff_t i = 0; i < 2; ++i) {
    taps.offset[i] = offset_of(before + static_cast<W>(i), size, stride);
  }
  return taps;
}

// The elements around a position with a product of weights each, without those outside: at most 4 in each
// of two dimensions, or 2 in each of three.
template <class W>
struct Neighbors {
  explicit Neighbors(const Taps<W>* taps) {
    for (ptrdiff_t i = 0; i < taps[0].count; ++i) {
      for (ptrdiff_t j = 0; j < taps[1].count; ++j) {
        const W outer = taps[0].weight[i] * taps[1].weight[j];
        const bool is_inside = taps[0].offset[i] >= 0 && taps[1].offset[j] >= 0;
        for (ptrdiff_t k = 0; is_inside && k < taps[2].count; ++k) {
          if (taps[2].offset[k] < 0) continue;
          offset[count] = taps[0].offset[i] + taps[1].offset[j] + taps[2].offset[k];
          weight[count++] = outer * taps[2].weight[k];
        }
      }
    }
  }

  ptrdiff_t count = 0;
  ptrdiff_t offset[16];
  W weight[16];
};

template <class W, class E>
void sample(const Sampling& sampling, size_t spatial, const Tensor& input, const Tensor& grid,
            const Tensor& out, const E& elements) {
  const View source = as_volume(input, spatial);
  const View target = as_volume(out, spatial);
  View points = View::of(grid);  // [N, D, H, W, coordinates], x first
  if (spatial == 2) points.insert(1, 1, 0);
  Taps<W> taps[kVolume] = {single_tap<W>(), single_tap<W>(), single_tap<W>()};
  for (ptrdiff_t n = 0; n < target.sizes[0]; ++n) {
    for (ptrdiff_t z = 0; z < target.sizes[2]; ++z) {
      for (ptrdiff_t y = 0; y < target.sizes[3]; ++y) {
        for (ptrdiff_t x = 0; x < target.sizes[4]; ++x) {
          const char* point = points.data + n * points.strides[0] + z * points.strides[1] +
                              y * points.strides[2] + x * points.strides[3];
          for (size_t d = kVolume - spatial; d < kVolume; ++d) {
            // Coordinates are x, y, z; dimensions z, y, x.
            const auto coordinate = static_cast<ptrdiff_t>(kVolume - 1 - d);
            taps[d] = taps_of(sampling, elements.load(point + coordinate * points.strides[4]),
                              source.sizes[2 + d], source.strides[2 + d]);
          }
          const Neighbors<W> neighbors(taps);
          const char* from = volume_at(source, n, 0, 0, 0);
          char* to = volume_at(target, n, z, y, x);
          for (ptrdiff_t c = 0; c < source.sizes[1]; ++c) {
            W sum = 0;
            for (ptrdiff_t i = 0; i < neighbors.count; ++i) {
              sum += neighbors.weight[i] * elements.load(from + neighbors.offset[i]);
            }
            elements.store(to, sum);
            from += source.strides[1];
            to += target.strides[1];
          }
        }
      }
    }
  }
}

// Input [N, C, (D,) H, W], grid [N, (D,) H, W, coordinates], out [N, C, and the spatial sizes of the grid].
// Proves all shapes; positions are the only values that the loops test.
Error sample_grid(TypeSet types, size_t spatial, const Tensor& input, const Tensor& grid,
                  const Sampling& sampling, const Tensor& out) {
  const ScalarType type = input.scalar_type();
  if (!contains(types, type)) return unsupported_type(type);
  RL_TRY(check_same_dtype(input, grid, "input and grid"));
  RL_TRY(check_same_dtype(input, out, "input and out"));
  const auto rank = static_cast<ptrdiff_t>(spatial + 2);
  RL_CHECK(input.dim() == rank && grid.dim() == rank, Error::InvalidArgument,
           "input and grid: expected rank %d, got %d and %d", static_cast<int>(rank),
           static_cast<int>(input.dim()), static_cast<int>(grid.dim()));
  RL_CHECK(grid.size(0) == input.size(0) && grid.size(rank - 1) == rank - 2, Error::InvalidArgument,
           "grid: expected a batch of %ld and %ld coordinates, got %ld and %ld",
           static_cast<long>(input.size(0)), static_cast<long>(rank - 2), static_cast<long>(grid.size(0)),
           static_cast<long>(grid.size(rank - 1)));
  for (ptrdiff_t d = 2; d < rank; ++d) {
    RL_CHECK(input.size(d) > 0, Error::InvalidArgument, "input: dimension %d is empty", static_cast<int>(d));
  }
  RL_CHECK(sampling.mode >= kLinear && sampling.mode <= (spatial == 2 ? kCubic : kNearest),
           Error::InvalidArgument, "interpolation_mode: expected 0 to %d, got %ld", spatial == 2 ? 2 : 1,
           static_cast<long>(sampling.mode));
  RL_CHECK(sampling.outside >= kZeros && sampling.outside <= kReflection, Error::InvalidArgument,
           "padding_mode: expected 0 to 2, got %ld", static_cast<long>(sampling.outside));
  Shape shape;
  shape.push(input.size(0));
  shape.push(input.size(1));
  for (ptrdiff_t d = 1; d < rank - 1; ++d) shape.push(grid.size(d));
  RL_TRY(resize_out(out, shape.span()));
  return dispatch<floating_compute_types(kTypes)>(floating_compute_type(type), [&](auto compute) {
    using W = typename decltype(compute)::Element;
#ifndef __OPTIMIZE_SIZE__
    if (type == scalar_type_of<W>) {
      sample<W>(sampling, spatial, input, grid, out, DirectElements<W>());
      return Error::Ok;
    }
#endif
    sample<W>(sampling, spatial, input, grid, out, HeldElements<W>(type));
    return Error::Ok;
  });
}

}  // namespace

Error grid_sampler_2d_out(KernelContext&, const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                          int64_t padding_mode, bool align_corners, Tensor& out) {
  constexpr TypeSet kOwnTypes = selected_types("aten::grid_sampler_2d.out");
  return sample_grid(kOwnTypes, 2, input, grid, {interpolation_mode, padding_mode, align_corners}, out);
}

Error grid_sampler_3d_out(KernelContext&, const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                          int64_t padding_mode, bool align_corners, Tensor& out) {
  constexpr TypeSet kOwnTypes = selected_types("aten::grid_sampler_3d.out");
  return sample_grid(kOwnTypes, 3, input, grid, {interpolation_mode, padding_mode, align_corners}, out);
}

}  // namespace rushlight::kernels

// SPDX-License-Identifier: BSD-3-Clause
// Samples an image at the positions of a grid, by linear, nearest or cubic interpolation (Jaderberg et al.,
// "Spatial Transformer Networks", 2015). Weights separate by dimension: each position computes its weights
// once, for all channels. A position then costs 2^d, 1 or 4^d products for each channel in d dimensions.
// Spans of positions, of one image or of several small ones, are computed together, in vector code.
#include <algorithm>
#include <cmath>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/convert.h"
#include "kernels/geometry/taps.h"
#include "kernels/ukernel/loops.h"
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

// Positions that are computed at a time: loops over them are vector code.
#ifdef __OPTIMIZE_SIZE__
constexpr size_t kSpan = 1;
#else
constexpr size_t kSpan = 64;
#endif

// The elements around a span of positions along one dimension: [neighbor][position].
template <class W>
struct Places {
  size_t count;  // neighbors of each position
  W weight[4][kSpan];
  int32_t index[4][kSpan];  // -1: outside, or NaN; counts as 0

  // The test comes before the conversion, which is undefined for numbers that an index cannot hold.
  void set(size_t neighbor, size_t i, W position, W size) {
    const bool is_inside = position >= 0 && position < size;
    const auto whole = static_cast<int32_t>(is_inside ? position : W(0));
    index[neighbor][i] = is_inside ? whole : -1;
  }

  // The only element of a dimension of size 1.
  void set_single() {
    count = 1;
    for (size_t i = 0; i < kSpan; ++i) {
      weight[0][i] = 1;
      index[0][i] = 0;
    }
  }

  // Elements and weights around n grid coordinates.
  [[gnu::always_inline]] void find(const Sampling& sampling, const W* coordinates, size_t n, ptrdiff_t size) {
    const W length = static_cast<W>(size);
    W points[kSpan];
    // Undoes the normalization: -1 and 1 are the centers of the outermost elements, or their outer edges at
    // -0.5 and size - 0.5.
    const W factor = sampling.align_corners ? length - 1 : length;
    const W edge = sampling.align_corners ? W(0) : W(1);
    for (size_t i = 0; i < n; ++i) points[i] = ((coordinates[i] + 1) * factor - edge) / 2;
    if (sampling.mode == kCubic) {
      // Each of the four neighbors is padded separately, so reflection and border apply beyond the image.
      count = 4;
      for (size_t i = 0; i < n; ++i) {
        const W before = std::floor(points[i]);
        W weights[4];
        cubic_weights(points[i] - before, weights);
        for (size_t k = 0; k < 4; ++k) {
          weight[k][i] = weights[k];
          set(k, i, inside(sampling, before + (static_cast<W>(k) - 1), size), length);
        }
      }
      return;
    }
    if (sampling.outside != kZeros) {
      for (size_t i = 0; i < n; ++i) points[i] = inside(sampling, points[i], size);
    }
    // Padding comes before rounding, so a reflected position is rounded once, inside.
    if (sampling.mode == kNearest) {
      count = 1;
      for (size_t i = 0; i < n; ++i) {
        weight[0][i] = 1;
        set(0, i, std::nearbyint(points[i]), length);  // halves to even, as in PyTorch
      }
      return;
    }
    count = 2;
    for (size_t i = 0; i < n; ++i) {
      const W before = std::floor(points[i]);
      weight[1][i] = points[i] - before;
      weight[0][i] = 1 - weight[1][i];
      set(0, i, before, length);
      set(1, i, before + 1, length);
    }
  }
};

// The elements around a span of positions in all dimensions, with products of weights: at most 4 in each of
// two dimensions, or 2 in each of three.
template <class W>
struct Neighbors {
  size_t count = 0;
  W weight[16][kSpan];
  int32_t offset[16][kSpan];  // in elements; -1: outside

  // `starts` are the first elements of the images.
  [[gnu::always_inline]] void combine(const Places<W>* places, const int32_t* strides, const int32_t* starts,
                                      size_t n) {
    count = 0;
    for (size_t z = 0; z < places[0].count; ++z) {
      for (size_t y = 0; y < places[1].count; ++y) {
        for (size_t x = 0; x < places[2].count; ++x, ++count) {
          multiply(places[0].weight[z], places[1].weight[y], places[2].weight[x], n, weight[count]);
          add(places[0].index[z], places[1].index[y], places[2].index[x], strides, starts, n, offset[count]);
        }
      }
    }
  }

  // The weighted sums of a channel whose first element is at `from`; elements have `size` bytes.
  template <class E>
  [[gnu::always_inline]] void sum(const E& elements, const char* from, ptrdiff_t size, size_t n,
                                  W* sums) const {
    for (size_t i = 0; i < n; ++i) sums[i] = 0;
    for (size_t k = 0; k < count; ++k) add_products(elements, from, weight[k], offset[k], size, n, sums);
  }

 private:
  // Loops over arrays, as compilers vectorize them.
  [[gnu::always_inline]] static void multiply(const W* z, const W* y, const W* x, size_t n, W* product) {
    for (size_t i = 0; i < n; ++i) product[i] = z[i] * y[i] * x[i];
  }
  [[gnu::always_inline]] static void add(const int32_t* z, const int32_t* y, const int32_t* x,
                                         const int32_t* strides, const int32_t* starts, size_t n,
                                         int32_t* sum) {
    // Unsigned: the offset of an index of -1, which is not used, may wrap.
    const auto step = [strides](size_t d) { return static_cast<uint32_t>(strides[d]); };
    const uint32_t steps[] = {step(0), step(1), step(2)};
    for (size_t i = 0; i < n; ++i) {
      const uint32_t at = static_cast<uint32_t>(z[i]) * steps[0] + static_cast<uint32_t>(y[i]) * steps[1] +
                          static_cast<uint32_t>(x[i]) * steps[2] + static_cast<uint32_t>(starts[i]);
      sum[i] = (z[i] | y[i] | x[i]) < 0 ? -1 : static_cast<int32_t>(at);
    }
  }
  // Outside, weights may be NaN and elements infinite.
  template <class E>
  [[gnu::always_inline]] static void add_products(const E& elements, const char* from, const W* weights,
                                                  const int32_t* offsets, ptrdiff_t size, size_t n, W* sums) {
    for (size_t i = 0; i < n; ++i) {
      const W product = weights[i] * elements.load(from + (offsets[i] < 0 ? 0 : offsets[i]) * size);
      sums[i] += offsets[i] < 0 ? W(0) : product;
    }
  }
};

// The images of a call, with the same rank for two and three dimensions.
struct Images {
  View source;
  View target;
  View points;  // [N, D, H, W, coordinates], x first
};

template <class W, class E>
[[gnu::always_inline]] inline void sample_images(const Sampling& sampling, size_t spatial,
                                                 const Images& images, const E& elements) {
  const View& source = images.source;
  const View& target = images.target;
  const View& points = images.points;
  const ptrdiff_t width = target.sizes[4];
  size_t positions = static_cast<size_t>(target.sizes[0]);
  for (size_t d = 2; d < kVolume + 2; ++d) positions *= static_cast<size_t>(target.sizes[d]);
  // A constant where it can be, for instructions that gather elements.
  const ptrdiff_t size = std::is_same_v<E, DirectElements<W>>
                             ? static_cast<ptrdiff_t>(sizeof(W))
                             : static_cast<ptrdiff_t>(element_size(source.type));
  int32_t strides[kVolume];
  for (size_t d = 0; d < kVolume; ++d) strides[d] = static_cast<int32_t>(source.strides[2 + d] / size);
  Places<W> places[kVolume];
  Neighbors<W> neighbors;
  W coordinates[kVolume][kSpan];
  int32_t starts[kSpan];
  ptrdiff_t to[kSpan];
  W sums[kSpan];
  for (size_t d = 0; d + spatial < kVolume; ++d) places[d].set_single();
  // The image, z, y and x of the next position.
  ptrdiff_t at[kVolume + 1] = {};
  for (size_t first = 0; first < positions; first += kSpan) {
    const size_t n = std::min(positions - first, kSpan);
    // Rows may be shorter than a span: each gives it a part.
    for (size_t i = 0; i < n;) {
      const size_t part = std::min(n - i, static_cast<size_t>(width - at[3]));
      const char* point = points.data;
      for (size_t d = 0; d <= kVolume; ++d) point += at[d] * points.strides[d];
      // Coordinates are x, y, z; dimensions z, y, x.
      for (size_t d = kVolume - spatial; d < kVolume; ++d) {
        const char* from = point + static_cast<ptrdiff_t>(kVolume - 1 - d) * points.strides[4];
        for (size_t k = 0; k < part; ++k, from += points.strides[3])
          coordinates[d][i + k] = elements.load(from);
      }
      const auto start = static_cast<int32_t>(at[0] * (source.strides[0] / size));
      ptrdiff_t offset = at[0] * target.strides[0] + at[1] * target.strides[2] + at[2] * target.strides[3] +
                         at[3] * target.strides[4];
      for (size_t k = 0; k < part; ++k, offset += target.strides[4]) {
        starts[i + k] = start;
        to[i + k] = offset;
      }
      i += part;
      at[3] += static_cast<ptrdiff_t>(part);
      for (size_t d = kVolume; d > 0 && at[d] == target.sizes[d + 1]; --d) {
        at[d] = 0;
        ++at[d - 1];
      }
    }
    for (size_t d = kVolume - spatial; d < kVolume; ++d) {
      places[d].find(sampling, coordinates[d], n, source.sizes[2 + d]);
    }
    neighbors.combine(places, strides, starts, n);
    const char* from = source.data;
    char* result = target.data;
    for (ptrdiff_t c = 0; c < source.sizes[1]; ++c) {
      neighbors.sum(elements, from, size, n, sums);
      for (size_t i = 0; i < n; ++i) elements.store(result + to[i], sums[i]);
      from += source.strides[1];
      result += target.strides[1];
    }
  }
}

template <class W, class E>
RL_LOOPS void sample_in_loops(const Sampling& sampling, size_t spatial, const Images& images,
                              const E& elements) {
  sample_images<W>(sampling, spatial, images, elements);
}

template <class W, class E>
void sample(const Sampling& sampling, size_t spatial, const Images& images, const E& elements) {
  if (ukernel::runs_loops()) return sample_in_loops<W>(sampling, spatial, images, elements);
  sample_images<W>(sampling, spatial, images, elements);
}

#ifndef __OPTIMIZE_SIZE__
// 16-bit floats as float32 copies of all tensors, which takes less time than a conversion of each element
// that is read, unless few elements of the images are. False without scratch memory.
bool sample_copies(KernelContext& context, const Sampling& sampling, size_t spatial, Images images,
                   const Tensor& input, const Tensor& grid, const Tensor& out) {
  constexpr size_t kReads = 2;  // elements that a conversion may be for
  if (input.numel() > kReads * out.numel()) return false;
  const size_t count = input.numel() + grid.numel() + out.numel();
  auto* const floats = static_cast<float*>(context.allocate_temp(count * sizeof(float), sizeof(float)));
  if (floats == nullptr) return false;
  float* const results = floats + input.numel() + grid.numel();
  const auto size = static_cast<ptrdiff_t>(input.element_size());
  const auto widen = [&](View* view, float* to) {
    view->data = reinterpret_cast<char*>(to);
    for (size_t d = 0; d < view->dim; ++d) view->strides[d] *= static_cast<ptrdiff_t>(sizeof(float)) / size;
    view->type = ScalarType::Float;
  };
  const ScalarType type = input.scalar_type();
  const auto load = [&](const Tensor& from, View* view, float* to) {
    convert_span(to, sizeof(float), ScalarType::Float, from.const_data_ptr(), size, type, from.numel());
    widen(view, to);
  };
  load(input, &images.source, floats);
  load(grid, &images.points, floats + input.numel());
  widen(&images.target, results);
  sample<float>(sampling, spatial, images, DirectElements<float>());
  convert_span(out.mutable_data_ptr(), size, type, results, sizeof(float), ScalarType::Float, out.numel());
  return true;
}
#endif

// Input [N, C, (D,) H, W], grid [N, (D,) H, W, coordinates], out [N, C, and the spatial sizes of the grid].
// Proves all shapes; positions are the only values that the loops test.
Error sample_grid(KernelContext& context, TypeSet types, size_t spatial, const Tensor& input,
                  const Tensor& grid, const Sampling& sampling, const Tensor& out) {
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
  RL_CHECK(input.numel() <= INT32_MAX, Error::InvalidArgument,
           "input: expected at most %ld elements, got %lu", static_cast<long>(INT32_MAX),
           log_number(input.numel()));
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
  Images images{as_volume(input, spatial), as_volume(out, spatial), View::of(grid)};
  if (spatial == 2) images.points.insert(1, 1, 0);
  return dispatch<floating_compute_types(kTypes)>(floating_compute_type(type), [&](auto compute) {
    using W = typename decltype(compute)::Element;
#ifndef __OPTIMIZE_SIZE__
    if (type == scalar_type_of<W>) {
      sample<W>(sampling, spatial, images, DirectElements<W>());
      return Error::Ok;
    }
    if (sample_copies(context, sampling, spatial, images, input, grid, out)) return Error::Ok;
#else
    static_cast<void>(context);
#endif
    sample<W>(sampling, spatial, images, HeldElements<W>(type));
    return Error::Ok;
  });
}

}  // namespace

Error grid_sampler_2d_out(KernelContext& context, const Tensor& input, const Tensor& grid,
                          int64_t interpolation_mode, int64_t padding_mode, bool align_corners, Tensor& out) {
  constexpr TypeSet kOwnTypes = selected_types("aten::grid_sampler_2d.out");
  return sample_grid(context, kOwnTypes, 2, input, grid, {interpolation_mode, padding_mode, align_corners},
                     out);
}

Error grid_sampler_3d_out(KernelContext& context, const Tensor& input, const Tensor& grid,
                          int64_t interpolation_mode, int64_t padding_mode, bool align_corners, Tensor& out) {
  constexpr TypeSet kOwnTypes = selected_types("aten::grid_sampler_3d.out");
  return sample_grid(context, kOwnTypes, 3, input, grid, {interpolation_mode, padding_mode, align_corners},
                     out);
}

}  // namespace rushlight::kernels

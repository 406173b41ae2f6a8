// SPDX-License-Identifier: BSD-3-Clause
// Antialiased resampling: when an image shrinks, the filter is stretched to the distance between outputs, so
// that every input contributes. The weights of an output are computed once for all images and channels. The
// first of them are kept on the stack; the number of weights is unbounded, and the others are computed each
// time. An output costs the product of both filter widths.
#include <algorithm>
#include <cmath>

#include "kernels/checks/selection.h"
#include "kernels/geometry/taps.h"
#include "kernels/geometry/upsample.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes =
    selected_types("aten::_upsample_bilinear2d_aa.out") | selected_types("aten::_upsample_bicubic2d_aa.out");
constexpr size_t kSpatial = 2;

template <class W>
using Filter = W (*)(W distance);

// The triangle filter of linear interpolation.
template <class W>
W linear(W distance) {
  return std::max(W(1) - std::fabs(distance), W(0));
}

// Cubic convolution (Keys, 1981) with a = -0.5, PyTorch's value for antialiased resampling.
template <class W>
W cubic(W distance) {
  constexpr W kA = W(-0.5);
  const W x = std::fabs(distance);
  if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * kA : W(0);
}

// One dimension of the resampling, with its filter.
template <class W>
struct FilterAxis {
  Filter<W> filter;
  ptrdiff_t in;
  ptrdiff_t out;
  ptrdiff_t stride;  // in bytes, of the input
  W scale;           // distance between outputs, in inputs
  W support;         // radius of the filter, in inputs
  W levels;          // rounding steps for weights of uint8 images; 0 if not rounded

  [[nodiscard]] W stretch() const { return scale >= 1 ? W(1) / scale : W(1); }
};

// The inputs under the filter for one output.
template <class W>
struct FilterSpan {
  ptrdiff_t first;
  ptrdiff_t count;
  W start;  // distance of the first input to the output, in filter units
  W total;
};

template <class W>
constexpr W kFar = W(1e30);

// The span of inputs under the filter of output `index`, and the sum of their weights for normalization. At
// the borders the filter is cut off, and the remaining weights are scaled up to a sum of 1.
template <class W>
FilterSpan<W> inputs_of(const FilterAxis<W>& sieve, ptrdiff_t index) {
  const W length = static_cast<W>(sieve.in);
  W center = sieve.scale * (static_cast<W>(index) + W(0.5));
  if (!(center < kFar<W>)) center = kFar<W>;  // overflow or NaN from extreme scale factors
  const W begin = std::min(std::max(center - sieve.support + W(0.5), W(0)), length - 1);
  const W beyond = std::min(center + sieve.support + W(0.5), length);
  const auto first = static_cast<ptrdiff_t>(begin);
  const auto end = static_cast<ptrdiff_t>(beyond);
  // At least one input, also if extreme factors put the center outside.
  FilterSpan<W> seen{first, std::max<ptrdiff_t>(end - first, 1), 0, 0};
  seen.start = (static_cast<W>(first) - center + W(0.5)) * sieve.stretch();
  for (ptrdiff_t i = 0; i < seen.count; ++i) {
    seen.total += sieve.filter(seen.start + static_cast<W>(i) * sieve.stretch());
  }
  return seen;
}

// The normalized weight of the i-th input of the span; rounded to fixed point for uint8 images.
template <class W>
W weight_of(const FilterAxis<W>& sieve, const FilterSpan<W>& seen, ptrdiff_t i) {
  const W weight = sieve.filter(seen.start + static_cast<W>(i) * sieve.stretch());
  const W share = seen.total != 0 ? weight / seen.total : W(0);
  return sieve.levels != 0 ? std::round(share * sieve.levels) / sieve.levels : share;
}

// The weights of a span; the first ones are kept.
template <class W>
class Weights {
 public:
  Weights(const FilterAxis<W>& axis, const FilterSpan<W>& span) : axis_(axis), span_(span) {
    for (ptrdiff_t i = 0; i < kept(); ++i) kept_[i] = weight_of(axis, span, i);
  }

  // The sum of the weighted values; value(i) is the value of the i-th input of the span.
  template <class F>
  W sum(F value) const {
    W sum = 0;
    for (ptrdiff_t i = 0; i < kept(); ++i) sum += kept_[i] * value(i);
    for (ptrdiff_t i = kept(); i < span_.count; ++i) sum += weight_of(axis_, span_, i) * value(i);
    return sum;
  }

 private:
#ifdef __OPTIMIZE_SIZE__
  static constexpr ptrdiff_t kMost = 8;
#else
  static constexpr ptrdiff_t kMost = 64;
#endif
  [[nodiscard]] ptrdiff_t kept() const { return std::min(span_.count, kMost); }

  const FilterAxis<W>& axis_;
  const FilterSpan<W>& span_;
  W kept_[kMost];
};

template <class W>
FilterAxis<W> make_filter_axis(const Resampling& dimension, Filter<W> filter, bool align_corners,
                               ptrdiff_t stride) {
  W scale = dimension.scale<W>();
  if (align_corners) {
    scale = dimension.out > 1 ? static_cast<W>(dimension.in - 1) / static_cast<W>(dimension.out - 1) : W(0);
  }
  if (dimension.in == dimension.out) scale = 1;  // ignores the factor, as in PyTorch
  const W width = filter == cubic<W> ? W(2) : W(1);
  return {filter, dimension.in, dimension.out, stride, scale, width * std::max(scale, W(1)), 0};
}

// The fixed-point scale for weights of uint8 images, from the largest weight of any output.
template <class W>
W levels_of(const FilterAxis<W>& sieve) {
  W largest = 0;
  for (ptrdiff_t index = 0; index < sieve.out; ++index) {
    const FilterSpan<W> seen = inputs_of(sieve, index);
    for (ptrdiff_t i = 0; i < seen.count; ++i) largest = std::max(largest, weight_of(sieve, seen, i));
  }
  return static_cast<W>(byte_weight_levels(static_cast<double>(largest)));
}

// Rows are summed first, and uint8 row sums are rounded, as in PyTorch's two passes.
template <class W, class E>
void resample(Filter<W> filter, bool align_corners, const Resampling* dimensions, const Tensor& self,
              const Tensor& out, const E& elements) {
  const View source = as_volume(self, kSpatial);
  const View target = as_volume(out, kSpatial);
  const bool is_bytes = self.scalar_type() == ScalarType::Byte;
  FilterAxis<W> down = make_filter_axis(dimensions[1], filter, align_corners, source.strides[3]);
  FilterAxis<W> across = make_filter_axis(dimensions[2], filter, align_corners, source.strides[4]);
  if (is_bytes) {
    down.levels = levels_of(down);
    across.levels = levels_of(across);
  }
  const auto rounded = [is_bytes](W sum) { return is_bytes ? round_to_byte(sum) : sum; };
  for (ptrdiff_t y = 0; y < down.out; ++y) {
    const FilterSpan<W> rows = inputs_of(down, y);
    const Weights<W> row_weights(down, rows);
    for (ptrdiff_t x = 0; x < across.out; ++x) {
      const FilterSpan<W> columns = inputs_of(across, x);
      const Weights<W> column_weights(across, columns);
      for (ptrdiff_t n = 0; n < source.sizes[0]; ++n) {
        const char* from = volume_at(source, n, 0, rows.first, columns.first);
        char* to = volume_at(target, n, 0, y, x);
        for (ptrdiff_t c = 0; c < source.sizes[1]; ++c, from += source.strides[1], to += target.strides[1]) {
          const W sum = row_weights.sum([&](ptrdiff_t i) {
            const char* const row = from + i * down.stride;
            return rounded(
                column_weights.sum([&](ptrdiff_t j) { return elements.load(row + j * across.stride); }));
          });
          elements.store(to, rounded(sum));
        }
      }
    }
  }
}

enum class Kind : uint8_t { kLinear, kCubic };

Error upsample(TypeSet types, Kind kind, bool align_corners, const UpsampleArguments& arguments,
               const Tensor& self, const Tensor& out) {
  const ScalarType type = self.scalar_type();
  if (!contains(types, type)) return unsupported_type(type);
  Resampling dimensions[kVolume];
  RL_TRY(plan_upsample(self, arguments, out, dimensions));
  return dispatch<floating_compute_types(kTypes)>(floating_compute_type(type), [&](auto compute) {
    using W = typename decltype(compute)::Element;
    const Filter<W> filter = kind == Kind::kLinear ? linear<W> : cubic<W>;
#ifndef __OPTIMIZE_SIZE__
    if (type == scalar_type_of<W>) {
      resample<W>(filter, align_corners, dimensions, self, out, DirectElements<W>());
      return Error::Ok;
    }
#endif
    resample<W>(filter, align_corners, dimensions, self, out, HeldElements<W>(type));
    return Error::Ok;
  });
}

}  // namespace

Error _upsample_bilinear2d_aa_out(KernelContext&, const Tensor& self, Span<const int64_t> output_size,
                                  bool align_corners, std::optional<double> scales_h,
                                  std::optional<double> scales_w, Tensor& out) {
  constexpr TypeSet kOwnTypes = selected_types("aten::_upsample_bilinear2d_aa.out");
  return upsample(kOwnTypes, Kind::kLinear, align_corners, {kSpatial, output_size, {scales_h, scales_w}},
                  self, out);
}

Error _upsample_bicubic2d_aa_out(KernelContext&, const Tensor& self, Span<const int64_t> output_size,
                                 bool align_corners, std::optional<double> scales_h,
                                 std::optional<double> scales_w, Tensor& out) {
  constexpr TypeSet kOwnTypes = selected_types("aten::_upsample_bicubic2d_aa.out");
  return upsample(kOwnTypes, Kind::kCubic, align_corners, {kSpatial, output_size, {scales_h, scales_w}}, self,
                  out);
}

}  // namespace rushlight::kernels

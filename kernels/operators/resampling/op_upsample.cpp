// SPDX-License-Identifier: BSD-3-Clause
// Linear and cubic resampling. Weights separate by dimension: each output position computes its weights once,
// for all channels. No intermediate image: an output costs 2^d or 4^d products in d dimensions, and no
// scratch. For uint8 images weights are rounded to fixed point, as PyTorch does. 16-bit floats compute in
// float.
#include <algorithm>
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/geometry/taps.h"
#include "kernels/geometry/upsample.h"
#include "kernels/geometry/upsample_positions.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes =
    selected_types("aten::upsample_linear1d.out") | selected_types("aten::upsample_bilinear2d.out") |
    selected_types("aten::upsample_bilinear2d.vec_out") | selected_types("aten::upsample_trilinear3d.out") |
    selected_types("aten::upsample_bicubic2d.out");

// The arguments of one resampling.
struct Upsampling {
  const Tensor* self;
  const Tensor* out;
  Filter filter;
  bool align_corners;
  size_t spatial;
  Resampling dimensions[kVolume];
  double levels[kVolume] = {};  // of the weights of uint8 images
};

bool is_bytes(const Tensor& self) {
  return contains(kTypes, ScalarType::Byte) && self.scalar_type() == ScalarType::Byte;
}

// The taps of an output along axis d. Inputs outside are limited to the border.
template <class W>
Taps<W> tap_volume(const Upsampling& of, size_t d, ptrdiff_t index, const View& source) {
  if (d + of.spatial < kVolume) return single_tap<W>();
  const Resampling& axis = of.dimensions[d];
  Taps<W> taps;
  const auto set = [&](const auto& around) {
    taps.count = around.count;
    for (ptrdiff_t i = 0; i < around.count; ++i) {
      const ptrdiff_t at = std::min(std::max<ptrdiff_t>(around.first + i, 0), axis.in - 1);
      taps.offset[i] = at * source.strides[2 + d];
      taps.weight[i] = static_cast<W>(around.weights[i]);
    }
  };
  if (is_bytes(*of.self)) {
    set(byte_neighborhood(axis, of.filter, of.align_corners, of.levels[d], index));
  } else {
    set(neighborhood<W>(axis, of.filter, of.align_corners, index));
  }
  return taps;
}

// The taps of columns that are computed together, for all rows and channels.
#ifdef __OPTIMIZE_SIZE__
constexpr ptrdiff_t kColumns = 1;
#else
constexpr ptrdiff_t kColumns = 16;

// weighted_sum() of elements that need no conversion.
template <class W>
W direct_sum(const Taps<W>* taps, const char* at) {
  W sum = 0;
  for (ptrdiff_t z = 0; z < taps[0].count; ++z) {
    const char* const layer = at + taps[0].offset[z];
    W layer_sum = 0;
    for (ptrdiff_t y = 0; y < taps[1].count; ++y) {
      const char* const row = layer + taps[1].offset[y];
      W row_sum = 0;
      for (ptrdiff_t x = 0; x < taps[2].count; ++x) {
        row_sum += taps[2].weight[x] * *reinterpret_cast<const W*>(row + taps[2].offset[x]);
      }
      layer_sum += taps[1].weight[y] * row_sum;
    }
    sum += taps[0].weight[z] * layer_sum;
  }
  return sum;
}
#endif

// Resamples all images; each loop computes the taps of its dimension, and the inner loops reuse them.
template <class W>
void resample(const Upsampling& of) {
  const Tensor& self = *of.self;
  const Tensor& out = *of.out;
  const View source = as_volume(self, of.spatial);
  const View target = as_volume(out, of.spatial);
  const Access<W> access = access_as<W>(self.scalar_type());
  const SumRounding rounding = is_bytes(self) ? SumRounding::kToBytes : SumRounding::kNone;
  Taps<W> taps[kVolume];
  Taps<W> columns[kColumns];
  for (ptrdiff_t first = 0; first < of.dimensions[2].out; first += kColumns) {
    const ptrdiff_t count = std::min(of.dimensions[2].out - first, kColumns);
    for (ptrdiff_t x = 0; x < count; ++x) columns[x] = tap_volume<W>(of, 2, first + x, source);
    for (ptrdiff_t n = 0; n < source.sizes[0]; ++n) {
      for (ptrdiff_t z = 0; z < of.dimensions[0].out; ++z) {
        taps[0] = tap_volume<W>(of, 0, z, source);
        for (ptrdiff_t y = 0; y < of.dimensions[1].out; ++y) {
          taps[1] = tap_volume<W>(of, 1, y, source);
          for (ptrdiff_t x = 0; x < count; ++x) {
            taps[2] = columns[x];
            const char* from = volume_at(source, n, 0, 0, 0);
            char* to = volume_at(target, n, z, y, first + x);
            for (ptrdiff_t c = 0; c < source.sizes[1]; ++c) {
#ifndef __OPTIMIZE_SIZE__
              if (std::is_same_v<W, double>) {
                *reinterpret_cast<W*>(to) = direct_sum(taps, from);
              } else
#endif
                access.store(to, weighted_sum(taps, from, access, rounding));
              from += source.strides[1];
              to += target.strides[1];
            }
          }
        }
      }
    }
  }
}

// Checks the arguments, resizes `out` and fills `of`, which refers to the tensors.
Error plan(TypeSet types, Filter filter, bool align_corners, const UpsampleArguments& arguments,
           const Tensor& self, const Tensor& out, Upsampling* of) {
  if (!contains(types, self.scalar_type())) return unsupported_type(self.scalar_type());
  of->self = &self;
  of->out = &out;
  of->filter = filter;
  of->align_corners = align_corners;
  of->spatial = arguments.spatial;
  return plan_upsample(self, arguments, out, of->dimensions);
}

Error compute(Upsampling& of) {
  if (is_bytes(*of.self)) {
    for (size_t d = kVolume - of.spatial; d < kVolume; ++d) {
      of.levels[d] = byte_levels(of.dimensions[d], of.filter, of.align_corners);
    }
  }
  const ScalarType type = floating_compute_type(of.self->scalar_type());
  return dispatch<floating_compute_types(kTypes)>(type, [&](auto computed) {
    resample<typename decltype(computed)::Element>(of);
    return Error::Ok;
  });
}

// The problem of backs that compute the whole call.
InterpolationProblem problem_of(const Upsampling& of) {
  return {{*of.self, *of.out}, of.dimensions, of.filter, of.align_corners};
}

}  // namespace

// The operators differ in the number of dimensions and in the filter. Factors, if given, define the scale and
// not the size.
Error upsample_linear1d_out(KernelContext& context, const Tensor& self, Span<const int64_t> output_size,
                            bool align_corners, std::optional<double> scales, Tensor& out) {
  constexpr TypeSet kOwnTypes = selected_types("aten::upsample_linear1d.out");
  Upsampling of;
  RL_TRY(plan(kOwnTypes, Filter::kLinear, align_corners, {1, output_size, {scales}}, self, out, &of));
  return backs::upsample_linear1d_out(context, problem_of(of), [&] { return compute(of); });
}

Error upsample_bilinear2d_out(KernelContext& context, const Tensor& self, Span<const int64_t> output_size,
                              bool align_corners, std::optional<double> scales_h,
                              std::optional<double> scales_w, Tensor& out) {
  constexpr TypeSet kOwnTypes = selected_types("aten::upsample_bilinear2d.out");
  Upsampling of;
  RL_TRY(plan(kOwnTypes, Filter::kLinear, align_corners, {2, output_size, {scales_h, scales_w}}, self, out,
              &of));
  return backs::upsample_bilinear2d_out(context, problem_of(of), [&] { return compute(of); });
}

Error upsample_bilinear2d_vec_out(KernelContext& context, const Tensor& input,
                                  std::optional<Span<const int64_t>> output_size, bool align_corners,
                                  std::optional<Span<const double>> scale_factors, Tensor& out) {
  constexpr TypeSet kOwnTypes = selected_types("aten::upsample_bilinear2d.vec_out");
  // The vec overloads take either a size or factors, and compute the size from the latter.
  FactorSizes sizes;
  RL_TRY(read_factors(input, output_size, scale_factors, &sizes));
  Upsampling of;
  RL_TRY(plan(kOwnTypes, Filter::kLinear, align_corners, sizes.arguments, input, out, &of));
  return backs::upsample_bilinear2d_vec_out(context, problem_of(of), [&] { return compute(of); });
}

Error upsample_trilinear3d_out(KernelContext& context, const Tensor& self, Span<const int64_t> output_size,
                               bool align_corners, std::optional<double> scales_d,
                               std::optional<double> scales_h, std::optional<double> scales_w, Tensor& out) {
  constexpr TypeSet kOwnTypes = selected_types("aten::upsample_trilinear3d.out");
  Upsampling of;
  RL_TRY(plan(kOwnTypes, Filter::kLinear, align_corners, {3, output_size, {scales_d, scales_h, scales_w}},
              self, out, &of));
  return backs::upsample_trilinear3d_out(context, problem_of(of), [&] { return compute(of); });
}

Error upsample_bicubic2d_out(KernelContext& context, const Tensor& self, Span<const int64_t> output_size,
                             bool align_corners, std::optional<double> scales_h,
                             std::optional<double> scales_w, Tensor& out) {
  constexpr TypeSet kOwnTypes = selected_types("aten::upsample_bicubic2d.out");
  Upsampling of;
  RL_TRY(
      plan(kOwnTypes, Filter::kCubic, align_corners, {2, output_size, {scales_h, scales_w}}, self, out, &of));
  return backs::upsample_bicubic2d_out(context, problem_of(of), [&] { return compute(of); });
}

}  // namespace rushlight::kernels

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

// Offsets and weights of the 2 or 4 inputs around an output's position. Inputs outside are clamped to the
// border.
template <class W>
Taps<W> taps_of(const Resampling& dimension, Filter filter, bool align_corners, ptrdiff_t index,
                ptrdiff_t stride) {
  const W position = resampled_position<W>(dimension, filter, align_corners, index);
  // The weights depend on the fraction only; clamping an input's index repeats the border.
  const W floored = std::floor(position);
  auto first = static_cast<ptrdiff_t>(floored);
  Taps<W> taps;
  if (filter == Filter::kLinear) {
    taps.count = 2;
    linear_weights(position - floored, taps.weight);
  } else {
    taps.count = 4;
    first -= 1;
    cubic_weights(position - floored, taps.weight);
  }
  for (ptrdiff_t i = 0; i < taps.count; ++i) {
    taps.offset[i] = std::min(std::max<ptrdiff_t>(first + i, 0), dimension.in - 1) * stride;
  }
  return taps;
}

// Merges taps of the same element, which occur at borders, before their weights are rounded. The offsets of a
// dimension ascend, so equal ones are adjacent.
void merge_taps(Taps<double>* taps) {
  ptrdiff_t last = 0;
  for (ptrdiff_t i = 1; i < taps->count; ++i) {
    if (taps->offset[i] == taps->offset[last]) {
      taps->weight[last] += taps->weight[i];
    } else {
      taps->offset[++last] = taps->offset[i];
      taps->weight[last] = taps->weight[i];
    }
  }
  taps->count = last + 1;
}

// The arguments of one resampling.
struct Upsampling {
  const Tensor* self;
  const Tensor* out;
  Filter filter;
  bool align_corners;
  size_t spatial;
  Resampling dimensions[kVolume];
};

template <class W>
Taps<W> tap_volume(const Upsampling& of, size_t d, ptrdiff_t index, const View& source) {
  if (d + of.spatial < kVolume) return single_tap<W>();
  return taps_of<W>(of.dimensions[d], of.filter, of.align_corners, index, source.strides[2 + d]);
}

// PyTorch computes the weights of uint8 images in double before it rounds them.
Taps<double> tap_bytes(const Upsampling& of, size_t d, ptrdiff_t index, const View& source) {
  Taps<double> taps = tap_volume<double>(of, d, index, source);
  merge_taps(&taps);
  return taps;
}

// The fixed-point scale for weights of uint8 images along dimension d, from the largest weight of any output.
double levels_of(const Upsampling& of, size_t d, const View& source) {
  double largest = 0;
  for (ptrdiff_t index = 0; index < of.dimensions[d].out; ++index) {
    const Taps<double> taps = tap_bytes(of, d, index, source);
    for (ptrdiff_t i = 0; i < taps.count; ++i) largest = std::max(largest, taps.weight[i]);
  }
  return byte_weight_levels(largest);
}

// Resamples all images; each loop computes the taps of its dimension, and the inner loops reuse them.
template <class W>
void resample(const Upsampling& of) {
  const Tensor& self = *of.self;
  const Tensor& out = *of.out;
  const View source = as_volume(self, of.spatial);
  const View target = as_volume(out, of.spatial);
  const Access<W> access = access_as<W>(self.scalar_type());
  const bool is_bytes = contains(kTypes, ScalarType::Byte) && self.scalar_type() == ScalarType::Byte;
  const SumRounding rounding = is_bytes ? SumRounding::kToBytes : SumRounding::kNone;
  double levels[kVolume];
  // One pass over the weights of each dimension comes first: the scale depends on the largest.
  for (size_t d = 0; is_bytes && d < kVolume; ++d) levels[d] = levels_of(of, d, source);
  Taps<W> taps[kVolume];
  const auto move_to = [&](size_t d, ptrdiff_t index) {
    if (!is_bytes) {
      taps[d] = tap_volume<W>(of, d, index, source);
      return;
    }
    // Rounded to a multiple of 1 / levels, a power of two, so the products with bytes stay exact in float.
    const Taps<double> exact = tap_bytes(of, d, index, source);
    taps[d].count = exact.count;
    for (ptrdiff_t i = 0; i < exact.count; ++i) {
      taps[d].offset[i] = exact.offset[i];
      taps[d].weight[i] = static_cast<W>(std::round(exact.weight[i] * levels[d]) / levels[d]);
    }
  };
  for (ptrdiff_t n = 0; n < source.sizes[0]; ++n) {
    for (ptrdiff_t z = 0; z < of.dimensions[0].out; ++z) {
      move_to(0, z);
      for (ptrdiff_t y = 0; y < of.dimensions[1].out; ++y) {
        move_to(1, y);
        for (ptrdiff_t x = 0; x < of.dimensions[2].out; ++x) {
          move_to(2, x);
          for (ptrdiff_t c = 0; c < source.sizes[1]; ++c) {
            const char* from = volume_at(source, n, 0, 0, 0) + c * source.strides[1];
            access.store(volume_at(target, n, z, y, x) + c * target.strides[1],
                         weighted_sum(taps, from, access, rounding));
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

Error compute(const Upsampling& of) {
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
